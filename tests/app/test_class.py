"""Classes: checked files over the lessons; a projector and the instructor's notes, two windows of one browser."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from lessonkit import SHIPPED, settled, steps

from app.tabs.learn.classes import Classes
from app.tabs.learn.lessons import Lessons

STEPS = {one["id"]: len(one["steps"]) for one in Lessons(SHIPPED).found}
PART = {"title": "A part", "minutes": 5, "say": ["One sentence."], "lesson": "01-why-slow", "steps": [1]}
SMALL = {"title": "A class", "goal": "To be held.", "minutes": 5, "parts": [PART]}


def test_every_shipped_class_is_read_and_has_its_minutes() -> None:
    found = Classes(SHIPPED / "classes", STEPS).found
    assert [one["minutes"] for one in found] == [15, 45, 90] and [one["id"] for one in found] == ["15", "45", "90"]
    assert all("asked" in part for one in found for part in one["parts"])
    workshop = found[-1]
    assert sum(len(part.get("tasks", [])) for part in workshop["parts"]) >= 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"minutes": 6}, "minutes: its parts take 5 minutes, not 6"),
        ({"parts": [{**PART, "lesson": "99-none"}]}, "parts[0].lesson: there is no lesson '99-none'"),
        ({"parts": [{**PART, "steps": [9]}]}, "parts[0].steps: 01-why-slow has 3 steps"),
        ({"parts": [{**PART, "steps": []}]}, "parts[0]: a lesson and its steps come together"),
        ({"parts": [{**PART, "lesson": "", "steps": []}]}, "parts[0]: nothing is shown"),
        ({"parts": [{**PART, "open": "https://elsewhere"}]}, "parts[0].open"),
        ({"colour": "red"}, "unknown field 'colour'"),
    ],
)
def test_a_broken_class_is_passed_over_and_the_log_names_file_and_field(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, Any], said: str
) -> None:
    (tmp_path / "5.json").write_text(json.dumps(SMALL), encoding="utf-8")
    (tmp_path / "6.json").write_text(json.dumps({**SMALL, **change}), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [one["id"] for one in Classes(tmp_path, STEPS).found] == ["5"]
    assert "6.json" in caplog.text and said in caplog.text


@pytest.mark.everything
def test_the_notes_lead_the_projector(page: Any, shipped: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?tab=learn")
    page.get_by_role("link", name="A workshop of 90 minutes").click()
    page.get_by_role("heading", name="A workshop of 90 minutes").wait_for()
    parts = len(json.loads((SHIPPED / "classes" / "90.json").read_text(encoding="utf-8"))["parts"])
    assert (
        page.locator(".hx-paper-lesson").count() == parts
        and page.get_by_role("heading", name="What the room will ask").count() == parts
    )
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Start, with notes in a second window").click()
    settled(page, steps(1)[0]["title"])
    notes = opened.value
    notes.set_default_timeout(90_000)
    notes.locator(".hx-notes-now", has_text="lesson 1, step 1").wait_for()
    notes.get_by_role("button", name="Next", exact=True).click()
    settled(page, steps(1)[1]["title"])
    assert "stop=2" in page.url and "lesson=1" in page.url
    notes.get_by_role("button", name="Show the answer").click()
    page.locator(".hx-reveal").wait_for()
    assert notes.locator(".hx-notes-alone").is_hidden()

    # The projector leads as well: by its keys, through cards and back.
    page.locator(".hx-step-title").focus()
    for _ in range(2):
        page.keyboard.press("PageDown")
    page.get_by_role("heading", name="What do you think?").wait_for()
    notes.locator(".hx-notes-now", has_text="question: ").wait_for()
    page.keyboard.press("PageDown")
    settled(page, steps(2)[0]["title"])
    notes.locator(".hx-notes-body h2", has_text=f"Part 2 of {parts}").wait_for()
    notes.locator(".hx-notes-clock", has_text="this part ends at 18 min").wait_for()
    notes.close()
    page.go_back()
    page.get_by_role("heading", name="What do you think?").wait_for()
