"""The studies of early exits on the Results tab: read with care, and drawn one step behind."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from app.kit.static import ASSETS
from app.tabs.results.bundled_results import studies
from hsd_core.systems.exits import page as exits

SHIPPED = ASSETS / "results" / "early-exits" / "depth.jsonl"
pytestmark = pytest.mark.skipif(not SHIPPED.exists(), reason="no study is shipped")


def test_the_shipped_study_reaches_the_page_with_the_pairs_of_a_quarter_alone() -> None:
    (study,) = studies(exits, ASSETS / "results")
    assert study["id"] == "early-exits" and study["about"]["preset"] == "smollm2"
    told = {record["what"] for record in study["records"]}
    assert told == {"reading", "pair", "stack", "ratio", "run", "today", "predicted", "needed"}
    assert {record["verifier"][0] for record in study["records"] if record["what"] == "pair"} == {8}
    assert len(json.dumps(study)) < 300_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"what":"reading","at":1,', '"what":"reading","at":-1,'),
        ('"what":"today",', '"what":"today","share":7,"was":'),
        ('"kind":"depth"', '"kind":"other"'),
        ('"map":"plain"', '"map":"<b>"'),
    ],
)
def test_what_is_no_study_is_passed_over_with_a_line_in_the_log(
    old: str, new: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "depth.jsonl").write_text(text.replace(old, new, 1), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert studies(exits, tmp_path) == []
    assert "is passed over" in caplog.text


@pytest.mark.browser
@pytest.mark.everything
def test_every_figure_of_exits_is_drawn_once_it_is_opened(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=results")
    more = page.locator('[data-more="exits"]')
    more.locator("> summary").click()
    figures = more.locator(".hx-panel")
    more.locator(".hx-plot-exit-depths .main-svg").first.wait_for()
    names = {
        name
        for i in range(figures.count())
        for name in figures.nth(i).get_attribute("class").split()
        if name.startswith("hx-plot-exit")
    }
    whole = ("depths", "quarter", "runs", "ratios", "sweep", "plain", "one", "ideal")
    assert names == {f"hx-plot-exit-{name}" for name in whole}
    last = more.locator(".hx-plot-exit-one")
    last.scroll_into_view_if_needed()
    last.locator(".main-svg").first.wait_for()
    assert "Computed, not run" in last.inner_text() and "measured" in last.locator(".main-svg").first.text_content()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
