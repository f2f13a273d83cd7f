"""What comes to lie below a pointer that rests was not pointed at."""

from __future__ import annotations

from typing import Any

import pytest
from pagekit import drawn

USED = "(stack) => document.dispatchEvent(new CustomEvent('hx:use-stack', {detail: {stack, preset: 'toy'}}))"


@pytest.mark.browser
@pytest.mark.everything
def test_a_stack_that_another_tab_sends_is_not_hidden_by_a_card(page: Any, site: str) -> None:
    page.goto(f"{site}/?recording=00-toy")
    page.get_by_role("slider", name="Moment of the run").press("End")
    drawn(page)
    tokens = page.locator(".hx-flow .hx-tok")
    box = tokens.nth(12).bounding_box()
    page.get_by_role("tab", name="Planner").click()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate(USED, "table:4@id=order1,table@id=order6")
    page.wait_for_selector(".hx-note:has-text('is in the composer')")
    assert page.evaluate(
        "([x, y]) => Boolean(document.elementFromPoint(x, y).closest('.hx-tok'))",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    ), "a token lies below the pointer"
    page.wait_for_timeout(500)  # a card would be there by then
    assert page.locator("#stage .hx-card").is_hidden()
    tokens.nth(20).hover()
    page.locator("#stage .hx-card").wait_for()
