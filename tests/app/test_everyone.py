"""The page for everyone: axe-core checks its states, light and dark, on a desktop and on a phone; it can be used at
200 % zoom, in forced colours, on a phone, by keys, and read from the back of a hall."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest
from pagekit import drawn
from states import SIZES, STATES, State, made

GRAVE = ("serious", "critical")
# What is Gradio's own, by rule and element: a chart without a value yet has a name, and no role that could have one.
GRADIOS = {"aria-prohibited-attr": '.empty[aria-label="Empty value"]'}
RUN = """
async (gradios) => {
  // The elements themselves: a chart's may have gone by now, and then no selector leads to it.
  const { violations } = await axe.run(document, { resultTypes: ["violations"], preload: false, elementRef: true });
  const own = ({ id }, { element }) => !element?.matches(gradios[id] ?? "none");
  const said = ({ element, ...node }) => node;
  return violations.map((one) => ({ ...one, nodes: one.nodes.filter((node) => own(one, node)).map(said) }));
}
"""
SPILLS = """
() => [...document.querySelectorAll(".hx-stage *")].filter((x) => {
  if (!x.checkVisibility() || x.closest("svg, .hx-sr, .hx-plot") || x.clientWidth === 0) return false;
  const { overflowX, display } = getComputedStyle(x);
  return overflowX === "visible" && display !== "inline" && x.scrollWidth > x.clientWidth + 2;
}).map((x) => `${x.className}: ${x.scrollWidth} > ${x.clientWidth}`)
"""
SMALL = """
() => [...document.querySelectorAll(".hx-stage *, .hx-figure *")].filter((x) =>
  x.checkVisibility() && !x.closest(".hx-sr, .hx-plot, .js-plotly-plot, .hx-paper") && x.offsetWidth !== 1
  && [...x.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
  && parseFloat(getComputedStyle(x).fontSize) < 14
).map((x) => `${x.className?.baseVal ?? x.className} in ${x.parentElement.className}: ${getComputedStyle(x).fontSize}`)
"""
PLAYED = ("card", "settings", "share", "add-level", "anatomy-sampled", "proof", "proof-drawn", "figures")
FROM_THE_BACK = [*(f"play-{name}" for name in PLAYED), "race", "race-own", "race-compare"]
FROM_THE_BACK += ["planner", "learn", "learn-answered", "results", "atlas", "atlas-system"]
ZOOMED = ("planner", "results", "race", "race-own", "race-compare", "learn", "atlas", "atlas-system")
DESKTOP = {"width": SIZES["desktop"][0], "height": SIZES["desktop"][1]}
WINDOWS = {**SIZES, "zoomed": (720, 450)}  # at 200 % a window of 1440 px shows 720
BY_NAME = {state.name: state for state in STATES}


# One state of each kind of screen; the others are looked at with `--all`.
ALWAYS = ("story", "play", "play-card", "play-add-level", "play-anatomy-sampled", "play-proof-drawn")
ALWAYS += ("play-databases", "play-figures", "race", "planner", "planner-doctor", "learn-answered")
ALWAYS += ("results", "atlas-system")


@pytest.fixture(scope="module")
def looked_at(browser: Any) -> Iterator[Any]:
    """One page for all states: a desktop's, light."""
    pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python to check with axe-core")
    context = browser.new_context(viewport=DESKTOP, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(90_000)
    yield page
    context.close()


def found(page: Any) -> list[str]:
    """What axe-core finds and calls serious or critical, one line for each element."""
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    grave = [one for one in page.evaluate(RUN, GRADIOS) if one["impact"] in GRAVE]
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for one in grave
        for node in one["nodes"]
    ]


def resized(page: Any, window: str) -> None:
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    drawn(page)


def rarely(names: Collection[str]) -> list[Any]:
    """All states; those that have none of these names, with `--all` alone."""
    return [pytest.param(one, marks=() if one.name in names else pytest.mark.everything, id=one.name) for one in STATES]


@pytest.mark.parametrize("state", rarely(ALWAYS))
def test_every_state_is_for_everyone_in_two_looks_and_four_widths(looked_at: Any, shipped: str, state: State) -> None:
    """Light on a desktop, then on a projector and at 200 % zoom, then dark on a phone, without loading it again."""
    page = looked_at
    fits = "document.documentElement.scrollWidth <= innerWidth"
    resized(page, "desktop")
    page.emulate_media(color_scheme="light")
    made(page, shipped, state)
    assert found(page) == []
    assert page.evaluate(fits)
    if state.name in FROM_THE_BACK:
        resized(page, "projector")
        assert set(page.evaluate(SMALL)) == set(), "no text on a projector is smaller than 14 px"
    if state.name in ZOOMED:
        resized(page, "zoomed")
        assert page.evaluate(SPILLS) == [], "nothing spills out of its place"
        assert page.evaluate(fits)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.classList.contains('dark')")
    resized(page, "phone")
    assert found(page) == []
    assert page.evaluate(fits)


@pytest.mark.everything
@pytest.mark.parametrize("name", ZOOMED)
def test_a_page_that_is_opened_at_200_percent_spills_nothing_and_scrolls_no_table(
    looked_at: Any, shipped: str, name: str
) -> None:
    page = looked_at
    resized(page, "zoomed")
    made(page, shipped, BY_NAME[name])
    assert page.evaluate(SPILLS) == []
    tables = page.locator(".hx-res-scroll")
    assert all(table.evaluate("(x) => x.scrollWidth <= x.clientWidth") for table in tables.all())


@pytest.mark.everything
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_a_phone_that_is_dark_from_the_start_finds_the_same(looked_at: Any, shipped: str, state: State) -> None:
    page = looked_at
    resized(page, "phone")
    page.emulate_media(color_scheme="dark")
    made(page, shipped, state)
    assert found(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_what_is_wrong(looked_at: Any, shipped: str) -> None:
    page = looked_at
    resized(page, "desktop")
    page.emulate_media(color_scheme="light")
    made(page, shipped, BY_NAME["learn"])
    page.locator(".hx-lessons a").first.evaluate("(x) => { x.style.color = '#aaa'; x.replaceChildren('pale words'); }")
    assert {line.partition(" ")[0] for line in found(page)} == {"color-contrast"}


# ---- forced colours


def style(page: Any, selector: str, what: str) -> str:
    return str(page.locator(selector).first.evaluate("(x, what) => getComputedStyle(x)[what]", what))


@pytest.mark.everything
def test_forced_colours_leave_what_colour_alone_would_tell(browser: Any, shipped: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, forced_colors="active")
    page = context.new_page()
    made(page, shipped, BY_NAME["play-anatomy-sampled"])
    tab = '[role="tab"][aria-selected="{}"]'
    assert style(page, tab.format("true"), "borderBottom") != style(page, tab.format("false"), "borderBottom")
    assert "gradient" in style(page, ".hx-an-table td", "backgroundImage")
    assert style(page, '.hx-an-tile[aria-pressed="true"]', "outlineStyle") == "solid"
    made(page, shipped, BY_NAME["play-proof-drawn"])
    paper = style(page, ".hx-proof-chart", "backgroundColor")
    assert paper not in (style(page, ".hx-proof-bar-line i", "backgroundColor"), "rgba(0, 0, 0, 0)")
    made(page, shipped, BY_NAME["race-four"])
    assert style(page, ".hx-race-paint", "forcedColorAdjust") == "none"
    made(page, shipped, BY_NAME["learn-answered"])
    right, other = ".hx-choice[data-right=true]", ".hx-choice:not([data-right=true])"
    assert style(page, right, "borderColor") != style(page, other, "borderColor")
    context.close()


# ---- a phone, a projector


def test_on_a_phone_a_run_a_race_and_a_lesson_are_used_whole(page: Any, shipped: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    fits = "document.documentElement.scrollWidth <= innerWidth"
    made(page, shipped, BY_NAME["play"])
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="One round forward").click()
    drawn(page)
    assert page.locator(".hx-transport-clock").first.inner_text().startswith("round 1")
    page.get_by_role("button", name="Anatomy", exact=True).click()
    page.get_by_role("button", name="Previous event").click()
    drawn(page)
    assert page.get_by_role("group", name="The picture of the round").get_attribute("tabindex") == "0"
    assert page.locator(".hx-an-act").inner_text() and page.evaluate(fits)
    made(page, shipped, BY_NAME["race"])
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="One round forward").click()
    page.locator(".hx-race-column .hx-tok").first.click()
    page.locator(".hx-race-chosen:has-text('Token 1.')").wait_for()
    assert page.evaluate(fits)
    made(page, shipped, BY_NAME["learn-answered"])
    page.locator(".hx-lesson-next").click()
    page.get_by_label("your estimate").fill("3")
    page.keyboard.press("Enter")
    page.locator(".hx-reveal").wait_for()
    assert page.evaluate(fits)


def test_no_line_breaks_within_a_token(page: Any, shipped: str) -> None:
    """Its letter hangs below it: with a part on each of two lines it would stand below neither."""
    page.set_viewport_size({"width": 390, "height": 844})
    made(page, shipped, BY_NAME["play-four-levels"])
    parts = page.locator(".hx-flow .hx-tok").evaluate_all("(all) => all.map((x) => x.getClientRects().length)")
    assert len(parts) > 50 and set(parts) == {1}
