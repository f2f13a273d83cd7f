"""An open question of a lesson is answered nowhere on the page; a lesson's figures are those of its own run alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lessonkit import COUNT, looked_up, settled, steps

# What one can see, hear or point at: texts, names, titles and tips of what is not hidden. The question is left out.
SEEN = """() => {
  const found = [...document.querySelectorAll(".hx-lesson .hx-flow")].map((x) => `coloured by ${x.dataset.by}`);
  const own = (el) => [...el.childNodes].filter((x) => x.nodeType === 3).map((x) => x.data.trim()).filter(Boolean);
  for (const el of document.querySelectorAll("body *")) {
    if (el.closest(".hx-question") || ["SCRIPT", "STYLE"].includes(el.tagName)) continue;
    const box = el.closest("select") ?? el;
    if (!box.checkVisibility({ visibilityProperty: true })) continue;
    found.push(...own(el));
    for (const name of ["title", "aria-label", "aria-description", "aria-valuetext", "data-tip", "alt"])
      if (el.getAttribute(name)) found.push(el.getAttribute(name));
    if (el instanceof HTMLInputElement) found.push(el.value);
  }
  return found.filter(Boolean).map((text) => text.replaceAll("\\u00a0", " "));
}"""
AFTER_THE_CURSOR = """() => [...document.querySelectorAll(".hx-sketch .hx-lane-area")].flatMap((area) => {
  const cursor = area.querySelector(".hx-lane-cursor").getAttribute("transform").match(/[\\d.]+/)[0];
  const far = (x) => Number(x) > Number(cursor) + 1;
  const words = [...area.querySelectorAll(".hx-lane-words text")].filter((el) => far(el.getAttribute("x")));
  const blocks = [...area.querySelectorAll(".hx-block, .hx-block-reject")].map((el) => el.getBBox());
  return [...words.map((el) => el.textContent), ...blocks.filter((box) => far(box.x + box.width - 1)).map(String)];
})"""
COMING = re.compile(r"/recordings/\d\d-")
BARE = r"(?<![\d.,]){}(?![\d,]|\.\d)"  # a figure
# What the page says of what a question hides.
SAYS = {
    "speed": r"\d ?×|\d tokens/s|times plain|times as fast|\b(?:loses|slower|faster)\b(?!\?)",
    "per-pass": r"\d (?:mean|per target pass|a pass)|^mean \d",
    "equal": r"\d / \d+ equal|the same text",
    "exactness": r"(?:^|· )(?:exact|lossy)\b|(?:Exact|Lossy): |same distribution",
    "source": r"^coloured by source$|database or depth",
    "acceptance": r"^a \d|accepted / ",
    "caption": r"residual|committed in one pass",
}
# What would answer a question in words: looked for in titles, goals and headings too.
IN_WORDS = {
    (1, 2): r"hardly more|nearly free",
    (1, 3): r"\b[Gg]uess|copied|kept",
    (3, 1): r"does not change|not make the text worse|the same text",
    (6, 2): r"need not|(?:computed|compute) (?:once|twice|again)|serve both|[Ss]hared keys",
}


@pytest.fixture(scope="module")
def asked() -> dict[tuple[int, int], dict[str, Any]]:
    """Of each question, by lesson and step: what it hides and what would answer it."""
    return {(one["lesson"], one["step"]): one for one in looked_up()["asked"]}


def told(seen: list[str], question: dict[str, Any], said: str = "") -> list[str]:
    """Which of the texts answer a question. said: what the step itself says, which it may."""
    patterns = [SAYS[name] for name in question["hides"]]
    patterns += [BARE.format(re.escape(text.replace("\u00a0", " "))) for text in question["figures"]]
    if question["count"]:
        patterns.append(rf"\b{question['count']} (?:tokens )?committed|commits {question['count']}\b")
    patterns += map(re.escape, question["stacks"])
    return [text for text in seen if text not in said and any(re.search(pattern, text) for pattern in patterns)]


@pytest.mark.everything
def test_no_open_question_is_answered_and_every_answer_has_its_picture(
    page: Any, shipped: str, asked: dict[tuple[int, int], dict[str, Any]]
) -> None:
    """Through all lessons in one page: each step open, then answered; the first of each lesson beside Explore."""
    left, answered, silent = set(asked), {}, []
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?tab=learn&lesson=1")
    for lesson in range(1, COUNT + 1):
        for step, what in enumerate(steps(lesson), start=1):
            settled(page, what["title"])
            picture = page.locator(".hx-lesson .hx-sketch")
            assert picture.get_attribute("aria-label") and picture.is_visible(), (lesson, step)
            if "question" in what:
                left.remove((lesson, step))
                question = asked[lesson, step]
                assert page.locator(".hx-commit").count() == 1, "it is open"
                explore = page.locator(".hx-step-explore")  # a step without a run has none
                assert explore.is_disabled() if "action" in what else explore.count() == 0, (lesson, step)
                assert page.locator(".hx-text-panel").is_hidden()
                said = page.locator(".hx-step-says > p").first.inner_text().replace("\u00a0", " ")
                seen = page.evaluate(SEEN)
                found = told(seen, question, said) + page.evaluate(AFTER_THE_CURSOR)
                words = IN_WORDS.get((lesson, step))
                found += [text for text in seen if words and re.search(words, text)]
                if found:
                    answered[lesson, step] = found
                page.get_by_role("button", name="I do not know; show me").click()
                page.wait_for_selector(".hx-reveal")
                if question["hides"] and not told(page.evaluate(SEEN.replace(".hx-question", "x")), question):
                    silent.append((lesson, step))
            missing = [x for x in page.locator(".hx-step .hx-ref").all_inner_texts() if x.strip() == "\u2013"]
            assert not missing, what["title"]
            if step == 1:
                beside_explore(page, what)
            page.keyboard.press("PageDown")
        settled(page, "One thing to try")
        page.keyboard.press("PageDown")
    assert not left
    assert answered == {}
    assert silent == [], "what is hidden is said with the answer"


def beside_explore(page: Any, step: dict[str, Any]) -> None:
    """One press away, with the same parts lit; Escape leads back."""
    page.get_by_role("button", name="See it in Explore").click()
    page.locator(".hx-text-panel").wait_for()
    settled(page, step["title"])
    lit = step.get("reveal", {}).get("action", step["action"]).get("light", [])
    assert page.locator(".hx-lit").count() == len(lit), step["title"]
    page.keyboard.press("Escape")
    page.locator(".hx-text-panel").wait_for(state="hidden")
    settled(page, step["title"])


class Held:
    """Recordings that the server is slow to send, until they are let go."""

    def __init__(self, page: Any) -> None:
        self.waiting: list[Any] = []
        self.holds = True
        page.route(COMING, lambda route: self.waiting.append(route) if self.holds else route.continue_())

    def let_go(self) -> None:
        self.holds = False
        for route in self.waiting:
            route.continue_()


@pytest.mark.everything
def test_figures_and_verdicts_wait_for_the_lessons_own_run(page: Any, shipped: str) -> None:
    first, third = steps(2)[0], steps(2)[2]
    page.goto(f"{shipped}/?tab=learn&lesson=2&step=3")
    settled(page, third["title"])
    page.get_by_label("your estimate").fill("40")
    page.keyboard.press("Enter")
    said = page.locator(".hx-verdict-said")
    page.get_by_text("You said 40; it is ").wait_for()
    before = said.inner_text()
    held = Held(page)
    page.goto(f"{shipped}/?tab=learn&lesson=2&step=3")
    page.locator(".hx-verdict-said", has_text="Reading the lesson’s run").wait_for()
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    page.get_by_role("heading", name=first["title"]).wait_for()
    shown = page.locator(".hx-step .hx-ref[data-source='']")
    assert set(shown.all_inner_texts()) == {"\u2013"} and page.locator("figure.hx-sketch").count() == 0
    held.let_go()
    settled(page, first["title"])
    assert "\u2013" not in shown.all_inner_texts()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.get_by_text("You said 40; it is ").wait_for()
    assert said.inner_text() == before
