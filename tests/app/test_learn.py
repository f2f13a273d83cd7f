"""The Learn tab: lessons are checked files, their figures are those of the recordings, and they drive the real page."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from lessonkit import COUNT, SHIPPED, looked_up, settled, steps
from pagekit import drawn

from app.tabs.learn.lessons import Lessons, read

SMALL = {
    "title": "A lesson",
    "goal": "To be read.",
    "minutes": 1,
    "steps": [{"title": "A step", "text": "One sentence."}],
    "try": {"text": "Nothing."},
    "summary": ["It was read."],
}


def test_every_shipped_lesson_is_read() -> None:
    assert [one["id"] for one in Lessons(SHIPPED).found] == sorted(path.stem for path in SHIPPED.glob("*.json"))
    assert len(Lessons(SHIPPED).found) >= 9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"minutes": "five"}, "minutes: expected a whole number, got str"),
        ({"steps": [{"title": "A step"}]}, "steps[0]: missing field 'text'"),
        ({"steps": [{"title": "A step", "text": "word " * 71}]}, "steps[0].text: 71 words"),
        ({"steps": [{**SMALL["steps"][0], "action": {"at": "noon"}}]}, "steps[0].action.at"),  # type: ignore[index]
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"steps": [{**SMALL["steps"][0], "question": {"ask": "Is it?"}}]}, "steps[0]: a question and a reveal"),  # type: ignore[index]
    ],
)
def test_a_broken_lesson_is_passed_over_and_the_log_names_file_and_field(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, Any], said: str
) -> None:
    (tmp_path / "01-whole.json").write_text(json.dumps(SMALL), encoding="utf-8")
    (tmp_path / "02-broken.json").write_text(json.dumps({**SMALL, **change}), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [one["id"] for one in Lessons(tmp_path).found] == ["01-whole"]
    assert "02-broken.json" in caplog.text
    assert said in caplog.text


def test_a_step_that_needs_a_recording_is_there_where_that_is(tmp_path: Path) -> None:
    lessons, traces = tmp_path / "lessons", tmp_path / "traces"
    lessons.mkdir()
    traces.mkdir()
    step = SMALL["steps"][0]  # type: ignore[index]
    needy = {**SMALL, "steps": [step, {**step, "title": "Another", "needs": "99-real"}]}  # type: ignore[dict-item]
    (lessons / "01.json").write_text(json.dumps(needy), encoding="utf-8")

    def titles() -> list[str]:
        return [step["title"] for step in Lessons(lessons).found[0]["steps"]]

    assert titles() == ["A step"]
    (traces / "99-real.jsonl.gz").write_bytes(b"")
    assert titles() == ["A step", "Another"]


def test_conditions_and_answers_are_references(tmp_path: Path) -> None:
    def step(question: dict[str, Any]) -> dict[str, Any]:
        return {**SMALL["steps"][0], "question": {"ask": "Is it?", **question}, "reveal": {"text": "So."}}  # type: ignore[index]

    def verdict(question: dict[str, Any]) -> str:
        path = tmp_path / "01.json"
        path.write_text(json.dumps({**SMALL, "steps": [step(question)]}), encoding="utf-8")
        try:
            read(path)
        except ValueError as error:
            return str(error)
        return ""

    yes, no = {"text": "Yes", "right": True}, {"text": "No"}
    assert verdict({"choices": [yes, no]}) == ""
    assert "one right choice" in verdict({"choices": [no, no]})
    assert "one right choice" in verdict({"choices": [yes, yes]})
    assert verdict({"choices": [{"text": "Yes", "when": "$speedup < 1 and ${08-loses|kept} >= $kept"}, no]}) == ""
    assert "choices[0].when" in verdict({"choices": [{"text": "Yes", "when": "$speedup is low"}, no]})
    assert verdict({"number": {"answer": "${bench:ngram:5,target|speed_up}"}}) == ""
    assert "number.answer" in verdict({"number": {"answer": "1.5"}})
    assert "question.hides[0]" in verdict({"choices": [yes, no], "hides": ["all"]})


def test_what_wording_rests_on_and_sentences_that_may_be_said_have_conditions(tmp_path: Path) -> None:
    question = {"ask": "Is it?", "choices": [{"text": "Yes", "right": True}, {"text": "No"}]}

    def verdict(rests_on: list[str], also: list[dict[str, str]]) -> str:
        step = {
            **SMALL["steps"][0],
            "rests_on": rests_on,
            "question": question,
            "reveal": {"text": "So.", "also": also},
        }  # type: ignore[index]
        path = tmp_path / "01.json"
        path.write_text(json.dumps({**SMALL, "steps": [step]}), encoding="utf-8")
        try:
            read(path)
        except ValueError as error:
            return str(error)
        return ""

    assert verdict(["$round.1.tokens = 2"], [{"when": "$speedup < 1", "text": "It lost."}]) == ""
    assert "steps[0].rests_on[0]" in verdict(["two tokens"], [])
    assert "reveal.also[0].when" in verdict([], [{"when": "it lost", "text": "It lost."}])
    assert "steps[0].reveal.text" in verdict([], [{"when": "$speedup < 1", "text": "word " * 70}])


def test_all_that_lessons_name_is_found_in_what_is_shipped() -> None:
    """Recordings, moments, parts and figures; and each question has one right answer."""
    found = looked_up()
    assert found["faults"] == []
    assert not any("$" in line for line in found["said"]), "figures are filled in"


def at(page: Any) -> tuple[str, str]:
    query = parse_qs(urlsplit(page.url).query)
    return query.get("lesson", [""])[0], query.get("step", ["1"])[0]


def test_every_shipped_step_has_a_picture() -> None:
    found = [step for number in range(1, COUNT + 1) for step in steps(number)]
    assert [step["title"] for step in found if "figure" not in step] == []


def test_a_lesson_is_one_picture_with_explore_one_press_away(page: Any, shipped: str) -> None:
    titles = [step["title"] for step in steps(2)]
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?tab=learn")
    page.get_by_role("link", name="Draft and verify").click()
    settled(page, titles[0])
    assert at(page) == ("2", "1")
    assert page.evaluate("document.activeElement.textContent") == titles[0], "the focus goes to the step"
    assert not page.locator(".hx-text-panel").is_visible()
    picture = page.get_by_role("group", name="A round of a recorded run")
    assert picture.locator(".hx-an-tile").count() == 2, "nothing that comes later is drawn"
    picture.get_by_role("button", name="One event on").click()
    drawn(page)
    assert picture.locator(".hx-an-tile").count() == 2, "nor led to"

    # The answer is nowhere before one commits to one.
    assert page.locator(".hx-reveal").count() == 0
    assert "python" not in page.locator(".hx-lesson").inner_text()
    commit = page.get_by_role("button", name="That is my answer")
    assert commit.is_disabled()
    page.get_by_label("3: both guesses").check()
    commit.click()
    page.wait_for_selector(".hx-reveal")
    assert page.locator(".hx-verdict-said").inner_text() == "Not quite; the right answer is marked."
    assert page.locator(".hx-choice[data-right=true]").inner_text().replace("\n", " ").startswith("✓ 2: ")
    assert page.locator(".hx-reveal b").first.inner_text() == "2", "out of the trace"
    page.wait_for_selector(".hx-an-tile[data-state=rejected]")
    picture.locator(".hx-sketch-says", has_text="commits 2 tokens").or_(picture.get_by_text("instead")).first.wait_for()

    # Keys, the address, Back and Forward, a page reloaded.
    page.keyboard.press("PageDown")
    settled(page, titles[1])
    assert at(page) == ("2", "2")
    for wrong in ("-1", "1e400", "many"):
        page.get_by_label("your estimate").fill(wrong)
        page.get_by_text(f"\u201c{wrong}\u201d is not an estimate: enter a number from 0 up").wait_for()
        page.keyboard.press("Enter")
        assert commit.is_disabled() and not page.locator(".hx-verdict-said").count()
    page.get_by_label("your estimate").fill("3")
    assert page.locator(".hx-estimate-fault").is_hidden()
    page.keyboard.press("Enter")
    page.get_by_text("Right. It is 3 tokens.").wait_for()
    page.locator(".hx-lesson-next").click()
    settled(page, titles[2])
    page.get_by_role("button", name="I do not know; show me").click()
    page.get_by_text("Shown without your answer.").wait_for()
    page.go_back()
    settled(page, titles[1])
    page.go_back()
    settled(page, titles[0])
    page.wait_for_selector(".hx-reveal")  # what was answered stays answered
    page.go_forward()
    settled(page, titles[1])
    page.reload()
    settled(page, titles[1])
    assert at(page) == ("2", "2")
    page.get_by_text("Right. It is 3 tokens.").wait_for()

    # Explore beside it, with another run in it: the lesson says so, and leads back.
    page.get_by_role("button", name="See it in Explore").click()
    page.locator(".hx-tok").first.wait_for()
    assert parse_qs(urlsplit(page.url).query)["beside"] == ["1"]
    page.get_by_role("button", name="Recordings").click()
    page.locator(".hx-shelf-item").filter(has_text="Chat", visible=True).first.click()
    page.get_by_role("button", name="Back to the lesson’s run").click()
    page.locator(".hx-lesson-drift").wait_for(state="hidden")
    assert parse_qs(urlsplit(page.url).query)["recording"] == ["15-nano"]
    page.get_by_role("button", name="Back to the lesson", exact=True).click()
    page.locator(".hx-text-panel").wait_for(state="hidden")

    page.locator(".hx-step-title").focus()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Continue: lesson 2, step 2").wait_for()
    assert at(page) == ("", "1")
    assert page.locator(".hx-lit, .hx-dim").count() == 0
    page.get_by_role("tab", name="Explore").click()
    page.locator(".hx-text-panel").wait_for()
    assert page.locator(".hx-lesson").is_hidden()


@pytest.mark.everything
def test_on_a_phone_the_picture_comes_first_and_explore_is_above_a_sheet(page: Any, shipped: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?tab=learn&lesson=1&step=2")
    settled(page, steps(1)[1]["title"])
    picture, says = page.locator(".hx-sketch").bounding_box(), page.locator(".hx-step-says").bounding_box()
    assert picture["x"] >= 0 and picture["x"] + picture["width"] <= 390
    assert picture["y"] + picture["height"] <= says["y"] and picture["y"] < 844 * 0.3
    page.get_by_role("button", name="I do not know; show me").click()
    page.get_by_role("button", name="See it in Explore").click()
    page.locator(".hx-lane-plot.hx-lit").wait_for()
    settled(page, steps(1)[1]["title"])
    sheet, lit = page.locator(".hx-lesson").bounding_box(), page.locator(".hx-lane-plot.hx-lit").bounding_box()
    assert sheet["y"] > 844 * 0.5 and sheet["width"] == 390
    assert lit["y"] >= 0 and lit["y"] + lit["height"] <= sheet["y"]
    page.get_by_role("button", name="Fold the lesson", exact=True).click()
    assert page.locator(".hx-lesson").bounding_box()["height"] < 160


@pytest.mark.everything
def test_the_sheet_holds_every_question_and_its_answer(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=learn")
    page.get_by_role("button", name="Printable sheet").click()
    page.wait_for_selector(".hx-paper-answers")
    asked = sum("question" in step for number in range(1, COUNT + 1) for step in steps(number))
    assert page.locator(".hx-paper-question").count() == asked
    right = page.locator(".hx-paper-right").all_inner_texts()
    assert len(right) == asked and "\u2013" not in "".join(right)
    page.emulate_media(media="print")
    assert page.locator(".hx-sheet-do").is_hidden() and page.locator("#tabs > .tab-wrapper").is_hidden()
    assert page.locator(".hx-paper").evaluate("(el) => getComputedStyle(el).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Back to the lessons").click()
    page.locator(".hx-lessons").wait_for()

    # One lesson, with its pictures as they are before anything is answered.
    page.evaluate("window.print = () => { window.printed = document.querySelectorAll('.hx-paper-step').length; }")
    page.locator(".hx-lessons a").first.click()
    page.get_by_role("button", name="Print this lesson").click()
    page.wait_for_function("window.printed")
    assert page.evaluate("printed") == len(steps(1)) == page.locator(".hx-paper .hx-sketch").count()
    assert page.locator(".hx-paper-room").count() == sum("question" in step for step in steps(1))
    page.emulate_media(media="print")
    assert page.locator(".hx-paper :is(button.hx-quiet, input):visible, .hx-lesson:visible").count() == 0
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Back to lesson 1").click()
    page.locator(".hx-lesson").wait_for()
