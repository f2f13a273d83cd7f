"""An open question of a lesson is answered nowhere on the page; a lesson's figures are those of its own run alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lessonkit import COUNT, looked_up, settled, steps

# What one can see, hear or point at: texts, names, titles and tips of what is not hidden. The question's own choices
# are left out, and at what speed it is played.
SEEN = """() => {
  const found = [];
  found.push(`coloured by ${document.querySelector(".hx-flow").dataset.by}`);
  const own = (el) => [...el.childNodes].filter((x) => x.nodeType === 3).map((x) => x.data.trim()).filter(Boolean);
  for (const el of document.querySelectorAll("body *")) {
    if (el.closest(".hx-question, .hx-transport-speed") || ["SCRIPT", "STYLE"].includes(el.tagName)) continue;
    const box = el.closest("select") ?? el;
    if (!box.checkVisibility({ visibilityProperty: true })) continue;
    found.push(...own(el));
    for (const name of ["title", "aria-label", "aria-description", "aria-valuetext", "data-tip", "alt"])
      if (el.getAttribute(name)) found.push(el.getAttribute(name));
    if (el instanceof HTMLInputElement) found.push(el.value);
  }
  return found.filter(Boolean).map((text) => text.replaceAll("\\u00a0", " "));
}"""
AFTER_THE_CURSOR = """() => {
  const cursor = document.querySelector(".hx-lane-cursor").getAttribute("transform").match(/[\\d.]+/)[0];
  const far = (el, x) => Number(x) > Number(cursor) + 1;
  const words = [...document.querySelectorAll(".hx-lane-words text")].filter((el) => far(el, el.getAttribute("x")));
  const blocks = [...document.querySelectorAll(".hx-block, .hx-block-reject")].map((el) => el.getBBox());
  return [...words.map((el) => el.textContent), ...blocks.filter((box) => far(box, box.x + box.width - 1)).map(String)];
}"""
COMING = re.compile(r"/recordings/\d\d-")
BARE = r"(?<![\d.,]){}(?![\d,]|\.\d| ?(?:ms|s|MB)\b)"  # a figure, and none with the unit of another
# What the page says of what a question hides.
SAYS = {
    "speed": r"\d ?×|\d tokens/s|times plain|\b(?:loses|slower|still|faster)\b(?!\?)",
    "per-pass": r"\d (?:mean|per target pass)",
    "equal": r"\d / \d+ equal|the same text",
    "exactness": r"(?:^|· )(?:exact|lossy)\b|(?:Exact|Lossy): |same distribution",
    "source": r"^coloured by source$|database or depth",
    "acceptance": r"^a \d|accepted / ",
    "caption": r"residual",
}


@pytest.fixture(scope="module")
def asked() -> dict[tuple[int, int], dict[str, Any]]:
    """Of each question, by lesson and step: what it hides and what would answer it."""
    return {(one["lesson"], one["step"]): one for one in looked_up()["asked"]}


def told(seen: list[str], question: dict[str, Any]) -> list[str]:
    """Which of the texts answer a question."""
    patterns = [SAYS[name] for name in question["hides"]]
    if question["figure"]:
        patterns.append(BARE.format(re.escape(question["figure"])))
    if question["count"]:
        patterns.append(rf"\b{question['count']} (?:tokens )?committed|commits {question['count']}\b")
    if question["stack"]:
        patterns.append(re.escape(question["stack"]))
    return [text for text in seen if any(re.search(pattern, text) for pattern in patterns)]


def test_no_open_question_is_answered_on_the_page(
    page: Any, shipped: str, asked: dict[tuple[int, int], dict[str, Any]]
) -> None:
    left, answered = set(asked), {}
    page.goto(f"{shipped}/?tab=learn&lesson=1")
    for lesson in range(1, COUNT + 1):
        for step, what in enumerate(steps(lesson), start=1):
            settled(page, what["title"])
            if "question" in what:
                left.remove((lesson, step))
                assert page.locator(".hx-commit").count() == 1, "it is open"
                found = told(page.evaluate(SEEN), asked[lesson, step]) + page.evaluate(AFTER_THE_CURSOR)
                if found:
                    answered[lesson, step] = found
            page.keyboard.press("PageDown")
        settled(page, "One thing to try")
        page.keyboard.press("PageDown")
    assert not left
    assert answered == {}


def test_without_the_veil_the_page_would_tell(
    page: Any, shipped: str, asked: dict[tuple[int, int], dict[str, Any]]
) -> None:
    for lesson, step in ((3, 1), (7, 2), (9, 1), (10, 3), (10, 4)):
        page.goto(f"{shipped}/?tab=learn&lesson={lesson}&step={step}")
        settled(page, steps(lesson)[step - 1]["title"])
        question = asked[lesson, step]
        assert told(page.evaluate(SEEN), question) == []
        page.get_by_role("button", name="I do not know; show me").click()
        page.wait_for_selector(".hx-reveal")
        settled(page, steps(lesson)[step - 1]["title"])
        outside = page.evaluate(SEEN.replace(".hx-question", ".hx-lesson"))
        assert told(outside, question), (lesson, step)


def test_what_looks_closely_at_a_round_tells_nothing_while_a_question_is_open(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=learn&lesson=2&anatomy=1")
    settled(page, steps(2)[0]["title"])
    page.locator(".hx-anatomy").wait_for()
    assert not page.locator(".hx-an-strip").is_visible() and not page.locator(".hx-an-picture").is_visible()
    page.get_by_role("button", name="close the anatomy").click()
    page.get_by_role("button", name="I do not know; show me").click()
    page.wait_for_selector(".hx-reveal")
    page.locator(".hx-open-anatomy").click()
    assert page.locator(".hx-an-strip").is_visible()


class Held:
    """Recordings that the server is slow to send, until they are let go."""

    def __init__(self, page: Any) -> None:
        self.waiting: list[Any] | None = None
        page.route(COMING, self._came)

    def _came(self, route: Any) -> None:
        route.continue_() if self.waiting is None else self.waiting.append(route)

    def let_go(self) -> None:
        waiting, self.waiting = self.waiting or [], None
        for route in waiting:
            route.continue_()


def test_a_lessons_figures_wait_for_its_own_run(page: Any, shipped: str) -> None:
    shown = ".hx-step .hx-ref[data-source='']"
    held = Held(page)
    for lesson in range(1, COUNT + 1):
        first = steps(lesson)[0]
        if first["action"]["recording"] == "01-code":
            continue  # the page opens with that one
        held.waiting = []
        with page.expect_request(COMING):
            page.goto(f"{shipped}/?tab=learn&lesson={lesson}")
        page.get_by_role("heading", name=first["title"]).wait_for()
        page.locator(".hx-lane-name").first.wait_for()  # another run is shown
        assert set(page.locator(shown).all_inner_texts()) <= {"\u2013"}, lesson
        held.let_go()
        settled(page, first["title"])
        assert "\u2013" not in page.locator(shown).all_inner_texts(), lesson


def test_a_verdict_waits_for_the_lessons_own_run(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=learn&lesson=2&step=3")
    settled(page, steps(2)[2]["title"])
    page.get_by_label("your estimate").fill("40")
    page.keyboard.press("Enter")
    said = page.locator(".hx-verdict-said")
    page.get_by_text("You said 40; it is ").wait_for()
    before = said.inner_text()
    held = Held(page)
    held.waiting = []
    page.goto(f"{shipped}/?tab=learn&lesson=2&step=3")
    page.get_by_text("Reading the lesson’s run").wait_for()
    held.let_go()
    page.get_by_text("You said 40; it is ").wait_for()
    assert said.inner_text() == before
