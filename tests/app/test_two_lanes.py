"""Levels that work at the same time, on the page: whose clock it is, how busy both lanes are, and a verdict's arrow."""

from __future__ import annotations

from typing import Any

import notes_of
import pytest
from pagekit import drawn

from app.kit.static import ASSETS
from hsd_core.cli import main
from hsd_core.core.events import Verify
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics

PEARL = "28-copy-pearl"
TRACE = ASSETS / "traces" / f"{PEARL}.jsonl.gz"


@pytest.mark.everything
def test_the_clock_is_named_and_a_round_shows_what_was_drafted_meanwhile(page: Any, shipped: str) -> None:
    events = tracefile.read(TRACE)
    found = metrics.lanes(events)
    assert found is not None and found.together is not None and found.gain is not None
    page.emulate_media(reduced_motion="reduce")  # it stands at its end
    page.goto(f"{shipped}/?recording={PEARL}")
    drawn(page)
    assert "recorded \u00b7 reckoned" in page.locator(".hx-status").inner_text()
    assert "reckoned speed-up" in page.locator(".hx-headline").inner_text()
    assert page.locator(".hx-figure-both dd").inner_text() == f"{found.together:.0%}".replace("%", "\u2009%")
    said = page.locator(".hx-lane-said")
    assert said.inner_text().startswith("Two lanes, reckoned: target at work")
    assert f"overlap gain {found.gain:.2f}; {found.dropped} drafted tokens dropped" in said.inner_text()
    table = page.locator(".hx-lanes table").inner_text()
    assert "both at work" in table and "reckoned clock" in table
    assert "(reckoned)" in (page.locator(".hx-lanes").get_attribute("aria-label") or "")

    # With the keyboard: the rounds, one after another, each with what became of its block.
    area = page.locator(".hx-lane-area")
    area.focus()
    top = len(metrics.header_of(events).levels) - 1
    verdicts = [e for e in events if isinstance(e, Verify) and e.level == top]
    lost = [bool(notes_of.dropped(e)) for e in verdicts]
    told = []
    for _ in verdicts:
        told.append((said.inner_text(), page.locator(".hx-mean.hx-mean-lost").count() == 1))
        page.keyboard.press("ArrowLeft")
        drawn(page)
    for number, (text, fell) in zip(range(len(verdicts), 0, -1), told, strict=True):
        assert f"round {number}:" in text
        assert fell == lost[number - 1] == ("so what was written" in text) or "nothing was drafted" in text
    assert page.locator(".hx-mean").get_attribute("data-round") == "0"
    page.evaluate("document.activeElement.blur()")
    drawn(page)
    assert page.locator(".hx-mean[data-round]").count() == 0, "no arrow where nobody singled a round out"

    page.get_by_role("button", name="Recordings").click()
    assert "reckoned" in page.get_by_role("option", name="PEARL: a copy").inner_text()


@pytest.mark.everything
def test_a_pipeline_has_a_lane_for_each_level(page: Any, shipped: str) -> None:
    found = metrics.lanes(tracefile.read(ASSETS / "traces" / "37-default-pipeline.jsonl.gz"))
    assert found is not None and len(found.busy) == 3
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?recording=37-default-pipeline&panel=time+stack")
    drawn(page)
    said = page.locator(".hx-lane-said").inner_text()
    assert said.startswith("Three lanes, reckoned: target at work") and "two or more at once" in said
    names = ("lookups", "8-bit copy")
    for name, share in zip(names, found.use, strict=False):
        assert f"{name} {share:.0%}".replace("%", "\u2009%") in said
    assert "as on three machines" in (page.locator(".hx-lanes").get_attribute("aria-label") or "")
    assert "two or more at work" in page.locator(".hx-figure-both").inner_text()
    page.get_by_label("rule, policy and order of 8-bit copy").click()
    assert page.locator("select[data-key=with-1] option").evaluate_all("all => all.map((x) => x.value)") == [
        "sync",
        "ahead",
    ]


@pytest.mark.everything
def test_a_saved_page_says_whose_clock_it_is(browser: Any, tmp_path: Any) -> None:
    out = tmp_path / "run.html"
    assert main(["export", str(TRACE), "--out", str(out)]) == 0
    page = browser.new_page()
    page.goto(f"file://{out}")
    page.locator(".hx-headline-value").wait_for()
    drawn(page)
    assert "reckoned" in page.title() and "reckoned" in page.locator(".hx-status").inner_text()
    page.close()
