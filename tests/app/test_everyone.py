"""The page for everyone: axe-core checks its states, light and dark, on a desktop and on a phone; it can be used at
200 % zoom, in forced colours, on a phone, by keys, and read from the back of a hall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pagekit import drawn
from states import SIZES, STATES, State, made

GRAVE = ("serious", "critical")
# What another colour scheme or a narrower window can change.
OF_A_LOOK = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
# What is Gradio's own, by rule and element: a chart without a value yet has a name, and no role that could have one.
GRADIOS = {"aria-prohibited-attr": '.empty[aria-label="Empty value"]'}
RUN = """
async ([gradios, runOnly]) => {
  // The elements themselves: a chart's may have gone by now, and then no selector leads to it.
  // What is closed or in another tab is nothing to check; it is taken out meanwhile, as nine elements of ten are there.
  const unseen = document.querySelectorAll("details:not([open]) > :not(summary), [role=tabpanel] > *");
  const away = [...unseen].filter((x) => x.isConnected && !x.checkVisibility()).map((x) => [x, new Comment()]);
  for (const [x, place] of away) x.replaceWith(place);
  const options = { resultTypes: ["violations"], preload: false, elementRef: true, ...(runOnly && { runOnly }) };
  const { violations } = await axe.run(document, options);
  for (const [x, place] of away.reverse()) place.replaceWith(x);
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
WINDOWS = {**SIZES, "zoomed": (720, 450)}  # at 200 % a window of 1440 px shows 720
BY_NAME = {state.name: state for state in STATES}


# One state or more of each kind of screen, one after another in a page; all states, each alone, with `--all`.
SCREENS = (
    *(("story",), ("play", "play-card", "play-add-level"), ("race",), ("planner", "planner-doctor")),
    ("learn-answered",),
)
MORE = (("play-anatomy-sampled", "play-proof-drawn"), ("play-databases",), ("results",), ("atlas-system",))
# What leads to a state from the one before it, where that is not its steps alone.
LEADS = {"play-proof-drawn": ".hx-open-proof", "planner-doctor": "#planner button:text-is('Doctor')"}


@pytest.fixture
def looked_at(page: Any) -> Any:
    pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python to check with axe-core")
    return page


def found(page: Any, rules: Sequence[str] = ()) -> list[str]:
    """What axe-core finds and calls serious or critical, one line for each element; by all rules, or by these."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    grave = [one for one in page.evaluate(RUN, [GRADIOS, list(rules) or None]) if one["impact"] in GRAVE]
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for one in grave
        for node in one["nodes"]
    ]


def resized(page: Any, window: str) -> None:
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    drawn(page)


def desk(page: Any) -> None:
    resized(page, "desktop")
    page.emulate_media(color_scheme="light")


FITS = "document.documentElement.scrollWidth <= innerWidth"


def looked_over(page: Any, name: str) -> None:
    """Light on a desktop, then on a projector and at 200 % zoom, then dark on a phone, without loading it again."""
    assert found(page) == []
    assert page.evaluate(FITS)
    if name in FROM_THE_BACK:
        resized(page, "projector")
        assert set(page.evaluate(SMALL)) == set(), "no text on a projector is smaller than 14 px"
    if name in ZOOMED:
        resized(page, "zoomed")
        assert page.evaluate(SPILLS) == [], "nothing spills out of its place"
        assert page.evaluate(FITS)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.classList.contains('dark')")
    resized(page, "phone")
    assert found(page, OF_A_LOOK) == []
    assert page.evaluate(FITS)


@pytest.mark.parametrize(
    "names",
    [*SCREENS, *(pytest.param(names, marks=pytest.mark.everything, id="+".join(names)) for names in MORE)],
    ids="+".join,
)
def test_every_screen_is_for_everyone_in_two_looks_and_four_widths(
    looked_at: Any, shipped: str, names: tuple[str, ...]
) -> None:
    """On the phone a run, a race and a lesson are used whole, and further states are looked at."""
    page = looked_at
    desk(page)
    made(page, shipped, BY_NAME[names[0]])
    looked_over(page, names[0])
    if names[0] in ON_A_PHONE:
        ON_A_PHONE[names[0]](page)
        assert page.evaluate(FITS)
    for name in names[1:]:
        page.keyboard.press("Escape")
        if name in LEADS:
            page.locator(LEADS[name]).first.click()
        BY_NAME[name].steps(page)
        drawn(page)
        assert found(page) == []
        assert page.evaluate(FITS)
    if names[0] == "learn-answered":  # axe finds what is wrong
        page.locator(".hx-step-title").evaluate("(x) => { x.style.color = '#333'; }")
        assert {line.partition(" ")[0] for line in found(page, OF_A_LOOK)} == {"color-contrast"}


@pytest.mark.everything
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_every_state_is_for_everyone(looked_at: Any, shipped: str, state: State) -> None:
    desk(looked_at)
    made(looked_at, shipped, state)
    looked_over(looked_at, state.name)


def _run_on_a_phone(page: Any) -> None:
    parts = page.locator(".hx-flow .hx-tok").evaluate_all("(all) => all.map((x) => x.getClientRects().length)")
    assert len(parts) > 50 and set(parts) == {1}, "its letter hangs below a token: no line breaks within it"
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="One round forward").click()
    drawn(page)
    assert page.locator(".hx-transport-clock").first.inner_text().startswith("round 1")
    page.get_by_role("button", name="Anatomy", exact=True).click()
    page.get_by_role("button", name="Previous event").click()
    drawn(page)
    assert page.get_by_role("group", name="The picture of the round").get_attribute("tabindex") == "0"
    assert page.locator(".hx-an-act").inner_text()
    page.get_by_role("button", name="Close the anatomy").click()
    page.get_by_role("button", name="To the end").click()


def _race_on_a_phone(page: Any) -> None:
    page.get_by_role("button", name="To the start").locator("visible=true").click()
    page.get_by_role("button", name="One round forward").locator("visible=true").click()
    page.locator(".hx-race-column .hx-tok").first.click()
    page.locator(".hx-race-chosen:has-text('Token 1.')").wait_for()


def _lesson_on_a_phone(page: Any) -> None:
    page.locator(".hx-lesson-next").click()
    page.get_by_label("your estimate").fill("3")
    page.keyboard.press("Enter")
    page.locator(".hx-reveal").wait_for()


ON_A_PHONE = {"play": _run_on_a_phone, "race": _race_on_a_phone, "learn-answered": _lesson_on_a_phone}


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
