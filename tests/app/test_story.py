"""The opening: for whom it opens, how it is played, paused and left, and what the address says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from cases import first_always
from pagekit import SHIFTS, worst_window

from app.kit.payload import dumps
from app.kit.static import ASSETS
from app.tabs.explore.opening_run import FILE, opening
from hsd_core.export.run_page import page_records
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check

OPENING = ASSETS / "opening"
SAYS = ".hx-story-says"
FIRST, LAST = "one word after the other", "the same text"


@pytest.fixture
def newcomer(browser: Any) -> Iterator[Any]:
    """A page whose browser has not seen the story; reduced motion: each press shows one moment."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(90_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    yield page
    context.close()
    assert not faults, faults


def told(page: Any, some: str) -> None:
    page.locator(SAYS, has_text=some).wait_for()


def gone(page: Any) -> None:
    page.locator(".hx-story").wait_for(state="detached")
    page.locator("#hx-first").wait_for(state="detached")


def presses(page: Any, key: str, times: int) -> list[str]:
    """What is said after each press."""
    said = []
    for _ in range(times):
        page.keyboard.press(key)
        said.append(page.locator(SAYS).inner_text())
    return said


def test_the_first_visit_opens_with_it_and_the_next_one_with_explore(newcomer: Any, shipped: str) -> None:
    page, drawing = newcomer, list[str]()
    page.on("request", lambda asked: drawing.append(asked.url) if "plotly" in asked.url.lower() else None)
    page.add_init_script(SHIFTS)
    page.goto(shipped)
    told(page, FIRST)
    assert page.url.endswith("/?story=1")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "dialog"
    said = presses(page, "ArrowRight", 15)
    assert any("guesses three words" in one for one in said)
    assert any("keeps the two" in one and "strikes out" in one for one in said)
    assert LAST in said[-1] and page.url.endswith("/?story=1&scene=3")
    page.locator("#stage .hx-stage").wait_for(state="attached")
    assert not page.get_by_role("button", name="Generate").is_visible(), "what is below cannot be reached"
    assert not drawing, "plotly is 4 MB, and no figure is in sight yet"
    page.get_by_role("button", name="Explore").click()
    gone(page)
    page.locator(".hx-flow .hx-tok").first.wait_for()
    assert "story" not in page.url
    assert page.evaluate("document.activeElement.textContent.trim()") == "Explore"
    assert worst_window(page.evaluate("shifts")) < 0.05, "nothing moves when it gives way"
    assert not drawing, "the figures begin where the window ends"
    page.go_back()
    told(page, LAST)
    page.go_forward()
    gone(page)
    page.goto(shipped)
    gone(page)
    page.locator(".hx-flow .hx-tok").first.wait_for()


@pytest.mark.everything
def test_keys_lead_back_and_out_and_mean_nothing_to_the_page_below(newcomer: Any, shipped: str) -> None:
    page = newcomer
    page.goto(f"{shipped}/?story=1&scene=2")
    told(page, "without any help")
    page.keyboard.press("p")
    page.keyboard.press("a")
    assert not page.evaluate("document.documentElement.classList.contains('hx-presenting')")
    presses(page, "ArrowLeft", 1)
    told(page, "join the text")
    page.go_back()
    told(page, "With the small levels it took")
    page.keyboard.press("Escape")
    gone(page)
    page.get_by_role("button", name="The idea", exact=True).click()
    told(page, FIRST)
    assert page.url.endswith("/?story=1")
    page.go_back()
    gone(page)


@first_always("query", ["explore=1", "recording=01-code", "tab=play", "seed=3"])
def test_every_other_link_opens_explore_at_once(newcomer: Any, shipped: str, query: str) -> None:
    newcomer.goto(f"{shipped}/?{query}", wait_until="commit")
    newcomer.locator(".hx-flow .hx-tok").first.wait_for()
    assert newcomer.locator(".hx-story").count() == 0


def test_the_page_brings_what_the_story_tells_and_no_more(shipped: str) -> None:
    told = opening(OPENING)
    assert told is not None
    run = tracefile.read(next(OPENING.glob("*.jsonl.gz")))
    whole = page_records(run)
    assert check(run) == [] and len(dumps(told["ev"])) < len(dumps(whole)) / 2
    snapshots = lambda ev: [one for one in ev if one["event"] == "snapshot"]  # noqa: E731
    assert snapshots(told["ev"]) == snapshots(whole) != []
    with urlopen(Request(shipped, headers={"accept-encoding": "gzip"})) as reply:
        body = reply.read()
        assert reply.headers["content-encoding"] == "gzip" and len(body) < 200_000
    with urlopen(shipped) as reply:
        assert reply.headers["content-encoding"] is None and b"<gradio-app" in reply.read()


@pytest.mark.parametrize("text", [None, "{", '{"recording": "none.jsonl.gz", "round": 1}', '{"round": 1}'])
def test_without_what_it_tells_there_is_no_opening(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / FILE).write_text(text)
    assert opening(tmp_path) is None
