"""Studies on the Results tab, of early exits, of sweeps of trainings and of what drafts remember: read with care, and
drawn one step behind."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.kit.static import ASSETS
from app.tabs.results.bundled_results import studies
from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.exits import page as exits
from hsd_core.systems.nano import page as nano
from hsd_core.systems.stree import page as stree

FILES = "early-exits/depth.jsonl", "scaling/sweep.jsonl", "smollm2-memory-epyc-milan/memory.jsonl"
DEPTH, SWEEP, MEMORY = (ASSETS / "results" / name for name in FILES)
TABLE = """(el) => [...el.querySelectorAll('.hx-figure-data tbody tr')]
  .map((row) => [...row.cells].map((x) => x.textContent))"""
DOTS = """(el) => el.querySelector('.js-plotly-plot').data.filter((one) => one.error_y)
  .flatMap((one) => one.x.map((x, i) => [String(x), one.y[i].toFixed(3)]))"""


def test_the_shipped_study_of_exits_reaches_the_page_with_the_pairs_of_a_quarter_alone() -> None:
    (study,) = studies(exits, ASSETS / "results")
    assert study["id"] == "early-exits" and study["about"]["preset"] == "smollm2"
    told = {record["what"] for record in study["records"]}
    assert told == {"reading", "pair", "stack", "ratio", "run", "today", "predicted", "needed"}
    assert {record["verifier"][0] for record in study["records"] if record["what"] == "pair"} == {8}
    assert len(json.dumps(study)) < 300_000


def test_the_shipped_sweep_reaches_the_page_as_its_raw_counts_say_and_without_a_text() -> None:
    (sweep,) = studies(nano, ASSETS / "results")
    about, records = read_raw(SWEEP)
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
    assert not {"prompt_ids", "output_ids", "prompt", "output"} & {*about, *(key for one in records for key in one)}
    assert "/tmp" not in SWEEP.read_text(encoding="utf-8")


def test_what_drafts_remember_reaches_the_page_and_a_running_state_does_not_grow() -> None:
    (study,) = studies(stree, ASSETS / "results")
    kept = {(one["draft"].removeprefix("smollm2-"), one["length"]): one["bytes"] for one in study["records"]}
    assert kept["nano", 8000] == 8000 * 2 * 2 * 3 * 64 * 4, "keys and values, two layers, three heads, float32"
    assert len({kept["nano-states", length] for length in (256, 1024, 4096, 8000)}) == 1


@pytest.mark.parametrize(
    ("system", "shipped_file", "old", "new"),
    [
        (exits, DEPTH, '"what":"reading","at":1,', '"what":"reading","at":-1,'),
        (exits, DEPTH, '"what":"today",', '"what":"today","share":7,"was":'),
        (exits, DEPTH, '"kind":"depth"', '"kind":"other"'),
        (exits, DEPTH, '"map":"plain"', '"map":"<b>"'),
        (nano, SWEEP, '"what":"training"', '"what":"other"'),
        (nano, SWEEP, '"share":0.0625', '"share":-1'),
        (nano, SWEEP, '"kind":"sweep"', '"kind":"depth"'),
        (nano, SWEEP, '"own":[[', '"own":[[1,0,0.0,0,0,1],['),
        (nano, SWEEP, '"judges":["held_out","other"]', '"judges":["held_out"]'),
        (stree, MEMORY, '"bytes":786432', '"bytes":-1'),
    ],
)
def test_what_is_no_study_is_passed_over_with_a_line_in_the_log(
    system: ModuleType, shipped_file: Path, old: str, new: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = shipped_file.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / shipped_file.name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert studies(system, tmp_path) == []
    assert "is passed over" in caplog.text


@pytest.mark.browser
@pytest.mark.everything
@pytest.mark.parametrize(
    ("section", "panel", "names", "last", "said"),
    [
        (
            "exits",
            "exit",
            ("depths", "quarter", "runs", "ratios", "sweep", "plain", "one", "ideal"),
            "one",
            "Computed, not run",
        ),
        (
            "scaling",
            "scaling",
            ("tokens", "passes", "held-out", "sizes", "hour", "load"),
            "hour",
            "Predicted, not run.",
        ),
        ("memory", "memory", ("bytes", "ms"), "ms", "Measured, with 95"),
    ],
)
def test_every_figure_of_a_study_is_drawn_once_it_is_opened(
    page: Any, shipped: str, section: str, panel: str, names: tuple[str, ...], last: str, said: str
) -> None:
    page.goto(f"{shipped}/?tab=results")
    more = page.locator(f'[data-more="{section}"]')
    more.locator("> summary").click()

    def drawn(name: str) -> Any:
        figure = more.locator(f".hx-plot-{panel}-{name}")
        figure.scroll_into_view_if_needed()  # figures are drawn where they are in sight
        figure.locator(".main-svg").first.wait_for()
        return figure

    first = drawn(names[0])
    if section == "scaling":
        assert [row[:1] + row[2:3] for row in first.evaluate(TABLE)] == first.evaluate(DOTS)
    there = [more.locator(f".hx-plot-{panel}-{name}").count() for name in names]
    assert there == [1] * len(names) and more.locator(".hx-panel").count() >= len(names)
    text = drawn(last)
    assert said in text.inner_text()
    assert section != "exits" or "measured" in text.locator(".main-svg").first.text_content()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
