"""The first screen stands before Gradio's page does, and moves into it with all that was done to it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cases import first_always
from pagekit import drawn

TOKEN = ".hx-flow .hx-tok"
FRAMES = """
window.asked = [];
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (f) => {
  asked.push(/statustracker/.test(new Error().stack));
  return frame(f);
};
window.frames = async (n) => { for (; n; n--) await new Promise(frame); };
"""


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


@first_always("size", [(1440, 900), (390, 844), (1920, 1080)])
def test_the_first_screen_needs_no_script_of_gradio_s(
    page: Any, shipped: str, held: Callable[[], None], size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{shipped}/?recording=01-code", wait_until="commit")
    page.locator(TOKEN).last.wait_for()
    assert page.locator("#stage").count() == 0
    page.get_by_role("slider", name="Moment of the run").evaluate(
        "(x) => { x.value = 500; x.dispatchEvent(new Event('input', {bubbles: true}));"
        " x.focus({preventScroll: true}); }"
    )
    drawn(page)
    measures = """
    () => [...document.querySelectorAll(
      ".hx-stage :is(.hx-why, .hx-prompt-row, .hx-text-body, .hx-floor, .hx-clock, .hx-tok)")]
      .map((x) => { const {x: left, y, width, height} = x.getBoundingClientRect(); return [left, y, width, height]; })
    """
    before = page.evaluate(measures)
    said = page.locator(".hx-caption-text").inner_text()
    page.evaluate("document.querySelector('.hx-stage').known = true")
    held()
    page.locator("#hx-first").wait_for(state="detached")
    assert page.evaluate("[...document.querySelectorAll('#stage .hx-stage')].map((x) => x.known)") == [True]
    drawn(page)
    assert page.evaluate(measures) == [pytest.approx(place, abs=1.5) for place in before], "nothing moves"
    assert page.locator(".hx-caption-text").inner_text() == said
    assert page.evaluate("document.activeElement.ariaLabel") == "Moment of the run"
    assert page.locator("#stage").get_by_role("button", name="Generate").count() == 1


def test_what_is_asked_of_the_server_waits_until_it_can_be_asked(
    page: Any, site: str, held: Callable[[], None]
) -> None:
    page.goto(f"{site}/?preset=toy&prompt=The+tower", wait_until="commit")
    page.locator(TOKEN).last.wait_for()
    page.get_by_role("button", name="Generate").click()
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    held()
    page.locator(".hx-status[data-mode='live']").wait_for()
    assert page.locator(".hx-text-panel h2").inner_text() == "The text"


@pytest.mark.parametrize("query", ["tab=planner", "embed=1"])
@pytest.mark.everything
def test_where_something_else_is_asked_for_the_first_screen_waits(
    page: Any, shipped: str, held: Callable[[], None], query: str
) -> None:
    page.goto(f"{shipped}/?{query}", wait_until="commit")
    page.wait_for_function("customElements && document.readyState === 'interactive'")
    page.wait_for_timeout(300)
    assert page.locator(".hx-stage").count() == 0
    held()
    page.locator("#hx-first").wait_for(state="detached")
    assert page.locator("#stage .hx-stage").count() == 1


@pytest.mark.everything
def test_gradio_s_loader_counts_no_seconds_once_the_first_screen_is_there(page: Any, shipped: str) -> None:
    page.add_init_script(FRAMES)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?recording=01-code")
    page.locator("#hx-first").wait_for(state="detached")
    page.evaluate("frames(60)")
    counted = page.evaluate("asked.splice(0).filter(Boolean).length")
    page.evaluate("frames(30)")
    assert counted > 0, "the loader was there"
    assert page.evaluate("asked.filter(Boolean).length") < 5, "a last one may be under way; not one for each frame"
