"""Where the page has little room: a laptop's low window, four floors, a tower beside a lesson, a phone; large type."""

from __future__ import annotations

from typing import Any

import pagekit
import pytest
from pagekit import drawn
from test_first_screen import DESK, PHONE, seek, visit
from test_text_room import OVERLAPS, apart, box

LAPTOP = (1280, 720)
LESSON = ".hx-lesson[aria-busy=false] .hx-step-title"
WHOLE = "(x) => x.scrollHeight <= x.clientHeight + 1"
CUT = """() => [...document.querySelectorAll('.hx-floor-name b')]
  .filter((x) => x.scrollWidth > x.clientWidth + 1 || x.scrollHeight > x.clientHeight + 2).map((x) => x.textContent)"""


@pytest.mark.parametrize(("recording", "size"), [("01-code", LAPTOP), ("01-code", DESK), ("09-four-levels", DESK)])
@pytest.mark.everything
def test_the_text_has_lines_and_every_floor_is_in_sight(
    page: Any, shipped: str, recording: str, size: tuple[int, int]
) -> None:
    visit(page, shipped, recording, size)
    seek(page, 1)
    assert page.locator(".hx-tower-body").evaluate(WHOLE) or size == LAPTOP, "the last one adds a level"
    body, floor = box(page, ".hx-tower-body"), page.locator(".hx-floor-card").last.bounding_box()
    assert floor["y"] + floor["height"] <= body["y"] + body["height"] + 1, "the ground floor is whole"
    assert box(page, ".hx-text-body")["height"] > 120, "three lines"
    clock = box(page, ".hx-clock")
    assert clock["y"] + clock["height"] <= size[1] + 1
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("panel", ["anatomy", "databases", "proof"])
@pytest.mark.everything
def test_in_a_low_window_a_panel_leaves_the_transport_in_sight(page: Any, shipped: str, panel: str) -> None:
    pagekit.visit(page, shipped, f"recording=06-chat-sampled&{panel}=1", LAPTOP, ".hx-desk:visible")
    transport = box(page, ".hx-transport")
    assert transport["y"] + transport["height"] <= LAPTOP[1]
    desk = box(page, ".hx-desk:visible")
    assert desk["height"] > 400 and apart(desk, transport)


@pytest.mark.everything
def test_in_a_low_window_the_draws_stand_over_their_explanation(page: Any, shipped: str) -> None:
    pagekit.visit(page, shipped, "recording=06-chat-sampled&proof=1", LAPTOP, ".hx-proof-chart")
    foot = box(page, ".hx-proof-foot")
    for chart in page.locator(".hx-proof-chart").all():
        at = chart.bounding_box()
        assert at["y"] + at["height"] <= foot["y"] + 1
        rows = chart.locator("li").last.bounding_box()
        assert rows["y"] + rows["height"] <= at["y"] + at["height"] + 1, "no row leaves its chart"


@pytest.mark.parametrize("lesson", [5, 10])
@pytest.mark.everything
def test_beside_a_lesson_every_level_keeps_its_name(page: Any, shipped: str, lesson: int) -> None:
    pagekit.visit(page, shipped, f"tab=learn&lesson={lesson}&beside=1", DESK, LESSON)
    page.wait_for_selector(".hx-floor-card")
    assert page.evaluate(CUT) == []
    assert page.locator(".hx-caption-text").evaluate(WHOLE)


@pytest.mark.everything
def test_in_a_low_window_a_step_that_speaks_of_the_legend_shows_it(page: Any, shipped: str) -> None:
    pagekit.visit(page, shipped, "tab=learn&lesson=7&step=2", LAPTOP, LESSON)
    page.get_by_role("button", name="I do not know; show me").click()
    page.get_by_role("button", name="See it in Explore").click()
    page.wait_for_selector(".hx-colours.hx-lit")
    legend, window = page.locator(".hx-text-panel .hx-colours"), LAPTOP[1]
    assert legend.is_visible()
    at = legend.bounding_box()
    assert at["height"] > 12 and at["y"] + at["height"] <= window


@pytest.mark.parametrize("size", [DESK, (1920, 1080)])
@pytest.mark.everything
def test_presenting_keeps_names_and_makes_panels_and_lessons_large(
    page: Any, shipped: str, size: tuple[int, int]
) -> None:
    pagekit.visit(page, shipped, "recording=01-code&present=1", size, ".hx-floor-card")
    assert page.evaluate(CUT) == []
    pagekit.visit(page, shipped, "recording=01-code&present=1&at=6&anatomy=1", size, ".hx-an-act")
    word = page.locator(".hx-an-word").first
    large = "(x) => parseFloat(getComputedStyle(x).fontSize) * (x.currentCSSZoom ?? 1)"
    assert word.evaluate(large) >= 16
    transport = box(page, ".hx-transport")
    assert transport["y"] + transport["height"] <= size[1]
    pagekit.visit(page, shipped, "tab=learn&lesson=5&present=1", size, LESSON)
    assert page.locator(".hx-lesson-body p").first.evaluate(large) >= 18


@pytest.mark.everything
def test_presented_races_have_their_letters_between_the_lines(page: Any, shipped: str) -> None:
    pagekit.visit(page, shipped, "tab=race&present=1", DESK, ".hx-race-column .hx-tok[data-mark]")
    gap, mark = page.locator(".hx-race-column .hx-flow").first.evaluate("""(flow) => {
      const token = flow.querySelector('.hx-tok[data-mark]');
      const line = parseFloat(getComputedStyle(flow).lineHeight);
      return [line - token.getClientRects()[0].height / (token.currentCSSZoom ?? 1),
              parseFloat(getComputedStyle(token, '::before').fontSize)];
    }""")
    assert mark <= gap, "a letter under a token stays off the token below"


@pytest.mark.everything
def test_on_a_phone_the_row_of_differences_and_the_menus_of_a_comparison_can_be_read(page: Any, shipped: str) -> None:
    pagekit.visit(page, shipped, "tab=race&compare=01-code,09-four-levels", PHONE, ".hx-race-differ")
    parts = [page.locator(f".hx-race-differ {part}").bounding_box() for part in ("h3", ".hx-race-track", "p")]
    assert all(part["width"] > 40 for part in parts)
    assert all(apart(part, other) for i, part in enumerate(parts) for other in parts[i + 1 :])
    assert page.locator(".hx-race-pick option:checked").inner_text() == "recorded races"
    page.get_by_role("button", name="Compare two runs").click()
    page.wait_for_selector(".hx-race-title:visible")
    assert "recorded races" not in page.locator(".hx-race-pick").inner_text()


@pytest.mark.everything
def test_the_details_of_a_floor_at_the_edge_come_into_sight(page: Any, shipped: str) -> None:
    visit(page, shipped, "01-code", DESK)
    page.get_by_role("button", name="rule, policy and order").last.click()
    drawn(page)
    body, panel = box(page, ".hx-tower-body"), page.locator(".hx-floor-more:visible").bounding_box()
    assert panel["y"] + panel["height"] <= body["y"] + body["height"] + 1 or panel["y"] <= body["y"] + 1
