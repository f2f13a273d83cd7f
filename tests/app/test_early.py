"""Before Gradio's scripts have run: an outline in plain HTML, and the story over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cases import first_always

from app.words.page import WHY


@pytest.fixture
def held(page: Any) -> Callable[[], None]:
    """Gradio's scripts do not come until this is called."""
    waiting: list[Any] = []
    gone = False

    def hold(route: Any) -> None:
        route.continue_() if gone else waiting.append(route)

    page.route("**/assets/index-*.js", hold)
    page.emulate_media(reduced_motion="reduce")

    def let_go() -> None:
        nonlocal gone
        gone = True
        for route in waiting:
            route.continue_()

    return let_go


@first_always("query", ["tab=planner", "recording=01-code", "embed=1"])
def test_the_outline_stands_until_the_first_screen_is_drawn(
    page: Any, shipped: str, held: Callable[[], None], query: str
) -> None:
    page.goto(f"{shipped}/?{query}", wait_until="commit")
    page.wait_for_function("customElements && document.readyState === 'interactive'")
    page.wait_for_timeout(300)
    assert page.locator("#hx-first .hx-why").inner_text() == WHY
    assert page.locator(".hx-stage").count() == 0
    held()
    page.locator("#hx-first").wait_for(state="detached")
    assert page.locator("#stage .hx-stage").count() == 1


def test_the_story_needs_no_script_of_gradio_s(page: Any, shipped: str, held: Callable[[], None]) -> None:
    page.goto(f"{shipped}/?story=1", wait_until="commit")
    story = page.get_by_role("dialog")
    story.wait_for()
    assert page.locator("#stage").count() == 0
    held()
    page.locator("#hx-first").wait_for(state="detached")
    assert story.is_visible() and page.locator("#stage .hx-stage").count() == 1
