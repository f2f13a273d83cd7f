"""Sweeps of trainings on the Results tab: read with care, and drawn one step behind as their table says."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from app.kit.static import ASSETS
from app.tabs.results.bundled_results import studies
from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.nano import page as nano

SHIPPED = ASSETS / "results" / "scaling" / "sweep.jsonl"
pytestmark = pytest.mark.skipif(not SHIPPED.exists(), reason="no sweep is shipped")
TABLE = """(el) => [...el.querySelectorAll('.hx-figure-data tbody tr')]
  .map((row) => [...row.cells].map((x) => x.textContent))"""
DOTS = """(el) => el.querySelector('.js-plotly-plot').data.filter((one) => one.error_y)
  .flatMap((one) => one.x.map((x, i) => [String(x), one.y[i].toFixed(3)]))"""


def test_the_shipped_sweep_reaches_the_page_as_its_raw_counts_say() -> None:
    (sweep,) = studies(nano, ASSETS / "results")
    about, records = read_raw(SHIPPED)
    assert sweep["id"] == "scaling" and sweep["about"] == about
    for one, raw in zip(sweep["trainings"], records, strict=True):
        for texts, gates in raw["judged"].items():
            for gate, rows in gates.items():
                _, _, _, accepted, rejected, _ = (sum(column) for column in zip(*rows, strict=True))
                told = one["judged"][texts][gate]["acceptance"]
                assert told[0] == pytest.approx(accepted / (accepted + rejected), abs=1e-5)
                assert told[1] < told[0] < told[2]
    tokens = [sweep["trainings"][at]["tokens"] for at in sweep["own_size"]]
    assert tokens == sorted(set(tokens)) and len(tokens) >= 4
    law = sweep["laws"]["other"]["gate"]["acceptance"]
    assert law["ahead"][-1][0] <= 4 * tokens[-1] and len(law["residuals"]) == len(tokens) - 1


def test_no_text_is_shipped_with_a_sweep() -> None:
    about, records = read_raw(SHIPPED)
    assert not {"prompt_ids", "output_ids", "prompt", "output"} & {*about, *(key for one in records for key in one)}
    assert "/tmp" not in SHIPPED.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"what":"training"', '"what":"other"'),
        ('"share":0.0625', '"share":-1'),
        ('"kind":"sweep"', '"kind":"depth"'),
        ('"own":[[', '"own":[[1,0,0.0,0,0,1],['),
        ('"judges":["held_out","other"]', '"judges":["held_out"]'),
    ],
)
def test_what_is_no_sweep_is_passed_over_with_a_line_in_the_log(
    old: str, new: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "sweep.jsonl").write_text(text.replace(old, new, 1), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert studies(nano, tmp_path) == []
    assert "is passed over" in caplog.text


@pytest.mark.browser
@pytest.mark.everything
def test_every_figure_of_a_sweep_is_drawn_as_its_table_says(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=results")
    more = page.locator('[data-more="scaling"]')
    more.locator("> summary").click()
    first = more.locator(".hx-plot-scaling-tokens")
    first.scroll_into_view_if_needed()  # figures are drawn where they are in sight
    first.locator(".main-svg").first.wait_for()
    assert [row[:1] + row[2:3] for row in first.evaluate(TABLE)] == first.evaluate(DOTS)
    names = {
        name
        for name in ("tokens", "passes", "held-out", "sizes", "hour", "load")
        if more.locator(f".hx-plot-scaling-{name}").count()
    }
    assert names == {"tokens", "passes", "held-out", "sizes", "hour", "load"}
    last = more.locator(".hx-plot-scaling-hour")
    last.scroll_into_view_if_needed()
    last.locator(".main-svg").first.wait_for()
    assert "Predicted, not run." in last.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
