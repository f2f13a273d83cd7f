"""The first screen in layers: what a newcomer meets, what lies one press behind, and what opens it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cases import first_always
from pagekit import CALM, OPENED, drawn, visit
from test_first_screen import DESK, PHONE, PROJECTOR

README = Path(__file__).parents[2] / "app" / "README.md"
FIRST = (
    *(".hx-prompt", ".hx-flow", ".hx-caption", ".hx-floor", ".hx-headline-value", ".hx-colours"),
    ".hx-transport-play",
)
BEHIND = {  # a panel, and what it opens
    "time": (".hx-lane-plot", ".hx-figures", ".hx-open-anatomy", ".hx-open-databases", ".hx-open-proof"),
    "details": (".hx-specimen", ".hx-text-foot .hx-legend"),
    "prediction": (".hx-forecast table", ".hx-forecast-note"),
    "stack": (".hx-stepper", ".hx-switch", ".hx-grip", ".hx-add", ".hx-stack-pick", ".hx-tower-words"),
    "controls": (
        *(".hx-recordings", ".hx-examples", ".hx-present", ".hx-transport-speed", ".hx-transport-pauses"),
        *('[aria-label="settings"]', '[aria-label="Share"]', '[aria-label^="help"]', '[aria-label="light or dark"]'),
        *(".hx-text-panel .hx-switch-ways", ".hx-text-panel .hx-tick", ".hx-open-trace"),
    ),
}
PLACES = """() => Object.fromEntries(
  ['.hx-title', '.hx-prompt', '.hx-text-panel', '.hx-tower', '.hx-floor'].map((name) => {
  const { left, top } = document.querySelector(name).getBoundingClientRect();
  return [name, [left, top]];
}))"""


def calm(page: Any, shipped: str, size: tuple[int, int] = DESK, query: str = CALM) -> None:
    visit(page, shipped, f"recording=01-code&at=12.5&{query}", size)


def seen(page: Any, selectors: tuple[str, ...]) -> list[bool]:
    return [page.locator(selector).first.is_visible() for selector in selectors]


def button(page: Any, panel: str) -> Any:
    return page.locator(f".hx-unfold-{panel}")


@first_always("size", [DESK, PHONE, PROJECTOR])
def test_a_newcomer_meets_five_things_and_one_press_opens_each_layer(
    page: Any, shipped: str, size: tuple[int, int]
) -> None:
    calm(page, shipped, size)
    assert all(seen(page, FIRST))
    _answered(page, *questions()[0])
    for panel, parts in BEHIND.items():
        assert not any(seen(page, parts)), panel
        assert button(page, panel).get_attribute("aria-expanded") == "false"
    assert page.locator(".hx-text-foot").is_hidden() and page.locator(".hx-lane-names:visible").count() == 0
    for panel, parts in BEHIND.items():
        before = page.evaluate(PLACES)
        button(page, panel).focus()
        page.keyboard.press("Enter")
        drawn(page)
        assert [part for part, there in zip(parts, seen(page, parts), strict=True) if not there] == [], panel
        assert button(page, panel).get_attribute("aria-expanded") == "true"
        if size == DESK:
            assert moved(page, before) == [], panel
    assert set(re.split(r"[ +]", re.search(r"panel=([^&]+)", page.url)[1])) == set(OPENED.split())  # type: ignore[index]


def test_the_live_charts_are_in_sight_read_round_by_round_and_grow_also_where_it_is_presented(
    page: Any, shipped: str
) -> None:
    calm(page, shipped)
    charts = page.locator(".hx-live .hx-chart")
    assert charts.count() == 4
    for size in ((1024, 768), PROJECTOR, DESK, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        drawn(page)
        if size == PHONE:
            assert page.locator(".hx-charts").is_hidden()
            button(page, "charts").click()
            page.locator(".hx-live").scroll_into_view_if_needed()
        for chart in charts.all():
            box = chart.bounding_box()
            assert chart.is_visible() and box["y"] + box["height"] <= size[1] and box["height"] > 50, size
    reader = page.get_by_role("slider", name="Live charts")
    reader.focus()
    page.keyboard.press("Home")
    heard = reader.get_attribute("aria-valuetext")
    assert heard.startswith("round 1 of ") and re.search(r"; \d+ tokens?; .* accepted \d+ of \d+", heard), heard
    assert page.locator(".hx-charts-round").inner_text() == "round 1"
    tokens = re.search(r"; (\d+) tokens?;", heard)[1]  # type: ignore[index]
    assert charts.nth(2).locator(".hx-chart-value").inner_text() == tokens
    page.keyboard.press("ArrowRight")
    assert reader.get_attribute("aria-valuetext").startswith("round 2 of ")  # type: ignore[union-attr]

    page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
    page.keyboard.press("p")
    page.wait_for_function("document.documentElement.classList.contains('hx-presenting')")
    drawn(page)
    assert page.locator(".hx-live .hx-chart:visible").count() == 4
    rounds = int(reader.get_attribute("aria-valuemax"))
    page.get_by_role("button", name="One round forward").click()
    drawn(page)
    assert int(reader.get_attribute("aria-valuemax")) == rounds + 1


def moved(page: Any, before: dict[str, list[float]]) -> list[str]:
    now = page.evaluate(PLACES)
    return [name for name in before if any(abs(a - b) > 1 for a, b in zip(before[name], now[name], strict=True))]


@pytest.mark.everything
def test_what_is_open_stays_open_in_the_session_and_by_the_address(page: Any, shipped: str) -> None:
    calm(page, shipped)
    button(page, "time").click()
    assert page.evaluate("sessionStorage['hx-panels']") == "time" and "panel=time" in page.url
    page.goto(f"{shipped}/?recording=05-maths")
    page.locator(".hx-lane-plot").wait_for()
    assert not any(seen(page, BEHIND["stack"]))
    button(page, "time").click()
    assert page.locator(".hx-lane-plot").is_hidden() and "panel=" not in page.url
    calm(page, shipped, query="panel=stack+nothing")
    assert all(seen(page, BEHIND["stack"])) and not any(seen(page, BEHIND["time"]))


@pytest.mark.everything
def test_links_of_before_open_what_they_name(page: Any, shipped: str) -> None:
    for panel in ("anatomy", "databases", "proof"):
        calm(page, shipped, query=f"{CALM}&{panel}=1")
        page.locator(".hx-desk:visible").wait_for()
        assert all(seen(page, (".hx-open-anatomy", ".hx-open-databases", ".hx-open-proof"))), "from one to another"


@pytest.mark.parametrize(
    ("menu", "shown"), [("recordings", ".hx-shelf"), ("settings", ".hx-settings"), ("help", ".hx-help")]
)
@pytest.mark.everything
def test_a_link_opens_the_menu_that_it_names(page: Any, shipped: str, menu: str, shown: str) -> None:
    calm(page, shipped, query=f"panel={menu}")
    page.locator(shown).locator("visible=true").wait_for()


@pytest.mark.everything
def test_an_empty_prompt_says_why_nothing_can_be_generated(page: Any, shipped: str) -> None:
    calm(page, shipped)
    page.get_by_role("textbox", name="prompt").fill("")
    go = page.get_by_role("button", name="Generate")
    assert go.get_attribute("aria-disabled") == "true"
    assert "nothing to generate" in page.get_by_role("textbox", name="prompt").get_attribute("placeholder")
    assert page.locator("#hx-go-why").inner_text() == "The prompt is empty: write something or choose an example."
    assert go.get_attribute("aria-describedby") == "hx-go-why"


@pytest.mark.everything
def test_on_a_phone_the_tower_stands_directly_below_the_text(page: Any, shipped: str) -> None:
    calm(page, shipped, PHONE)
    text, tower = (page.locator(x).bounding_box() for x in (".hx-text-panel", ".hx-tower"))
    assert 0 <= tower["y"] - text["y"] - text["height"] <= 16
    page.locator(".hx-unfold-stack").click()
    page.locator(".hx-stepper").first.wait_for()
    reach = "(x) => Math.max(...[...x.querySelectorAll(':not(svg *)')].map((y) => y.getBoundingClientRect().right))"
    assert page.locator(".hx-tower").evaluate(reach) <= tower["x"] + tower["width"], "it can be changed whole"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# ---- what newcomers ask first: the table in app/README.md is pressed through


def questions() -> list[tuple[str, list[str], str]]:
    table = README.read_text(encoding="utf-8").split("| a newcomer asks |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]
    return [(ask, [] if presses == "nothing" else presses.split(", then "), says) for ask, presses, says in rows]


@pytest.mark.everything
@pytest.mark.parametrize(("ask", "presses", "says"), questions()[1:])
def test_what_newcomers_ask_first_is_answered_in_two_presses(
    page: Any, shipped: str, ask: str, presses: list[str], says: str
) -> None:
    calm(page, shipped)
    _answered(page, ask, presses, says)


def _answered(page: Any, ask: str, presses: list[str], says: str) -> None:
    assert len(presses) <= 2, ask
    page.locator(".hx-unfold-prediction", has_text="measured").wait_for()
    for press in presses:
        control = page.get_by_role("button", name=press).or_(page.get_by_role("link", name=press))
        control.locator("visible=true").first.click()
    page.locator("body").get_by_text(re.compile(re.escape(says).replace("'", "[’']"))).locator(
        "visible=true"
    ).first.wait_for()


def test_there_are_five_of_these_questions() -> None:
    assert len(questions()) == 5
    assert questions()[0][1] == [], "nothing is pressed for the first: it is asked where all layers are closed"
