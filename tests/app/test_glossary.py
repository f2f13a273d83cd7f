"""Words with a dotted line: a press opens two sentences and a picture, by pointer, keyboard and on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from pagekit import CALM


def visit(page: Any, site: str, width: int = 1440, height: int = 900) -> Any:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}/?recording=00-toy&{CALM}")  # the sentence stands where not all controls do
    page.wait_for_selector(".hx-flow .hx-tok")
    return page.locator(".hx-why .hx-term").first


def test_a_press_explains_a_word_and_escape_gives_the_focus_back(page: Any, site: str) -> None:
    word = visit(page, site)
    assert word.get_attribute("aria-expanded") == "false"
    word.focus()
    page.keyboard.press("Enter")
    card = page.get_by_role("dialog", name="level")
    card.wait_for()
    assert word.get_attribute("aria-expanded") == "true"
    assert card.locator("svg rect").count() > 3 and card.locator("p span").count() == 2
    assert page.evaluate("document.activeElement.className").startswith("hx-definition")
    page.keyboard.press("Escape")
    assert card.is_hidden() and word.evaluate("x => x === document.activeElement")
    page.keyboard.press("Enter")
    for key in ("Tab", "Tab"):  # the button that closes it, then on from the word
        page.keyboard.press(key)
    assert card.is_hidden() and word.get_attribute("aria-expanded") == "false"
    assert not word.evaluate("x => x === document.activeElement")


@pytest.mark.everything
def test_one_definition_is_open_at_a_time_inside_the_window_and_nothing_moves(page: Any, site: str) -> None:
    word = visit(page, site)
    before = page.locator(".hx-stage").bounding_box(), page.locator(".hx-text-panel").bounding_box()
    word.click()
    card = page.get_by_role("dialog", name="level")
    box = card.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1440 and box["y"] + box["height"] <= 900
    assert (page.locator(".hx-stage").bounding_box(), page.locator(".hx-text-panel").bounding_box()) == before
    word.click()
    assert card.is_hidden(), "a second press closes it"
    word.click()
    page.mouse.click(700, 880)
    assert card.is_hidden(), "so does one elsewhere"
