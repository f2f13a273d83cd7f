"""What the charts of the Results tab draw is what their tables say, and what the benchmark's file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import launched

from app.kit.static import ASSETS
from app.planner.answer import answer, planned
from app.planner.figures.ink import Ink, percent, safe
from app.planner.figures.surface import RATIOS
from app.planner.figures.validation import validation_figure
from app.planner.profiles.plan_request import Look, parse
from app.planner.profiles.validations import measured_from
from hsd_core.pipeline import Pipeline

FOLDERS = sorted(path.parent for path in (ASSETS / "results").glob("*/results.json"))
PROFILES = sorted(path for path in (ASSETS / "profiles").glob("*.json") if not path.stem.endswith("-validation"))
VALIDATIONS = sorted((ASSETS / "profiles").glob("*-validation.json"))

# Labels stand beside the cells and bars as a reader sees them; what they measure is read from where they are drawn.
TASKS = """(el) => {
  const middle = (x) => { const box = x.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
  const { xaxis } = el.querySelector('.js-plotly-plot')._fullLayout;
  const rows = [...el.querySelectorAll('.ytick text')].map((x) => [x.textContent, middle(x)]);
  const nearest = (y) => rows.reduce((a, b) => (Math.abs(b[1] - y) < Math.abs(a[1] - y) ? b : a))[0];
  return [...el.querySelectorAll('.heatmap-label text')].map((x) => [
    nearest(middle(x)), xaxis._categories[Math.round(xaxis.p2l(+x.getAttribute('x')))], x.textContent]);
}"""
RATES = """(el) => {
  const middle = (x) => { const box = x.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
  const { xaxis } = el.querySelector('.js-plotly-plot')._fullLayout;
  const rows = [...el.querySelectorAll('.ytick text')].map((x) => [x.textContent, middle(x)]);
  const nearest = (y) => rows.reduce((a, b) => (Math.abs(b[1] - y) < Math.abs(a[1] - y) ? b : a))[0];
  return [...el.querySelectorAll('.barlayer .trace')].flatMap((trace) =>
    [...trace.querySelectorAll('.point path')].map((bar) => [
      nearest(middle(bar)), trace.__data__[0].trace.offsetgroup, xaxis.p2l(bar.getBBox().width)]));
}"""
TABLE = "(el) => [...el.querySelectorAll('.hx-figure-data tr')].map((row) => [...row.cells].map((x) => x.textContent))"


def rate(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def twice(results: dict[str, Any]) -> dict[str, Any]:
    """The same with every row there twice, as files have it whose stacks were asked for in two ways."""
    return {**results, "stacks": [{**row, "asked": asked} for row in results["stacks"] for asked in ("default", "a")]}


@pytest.fixture(scope="module", params=["as they are", "rows twice"])
def results(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmarks that are shipped, and the same from files that hold every stack twice."""
    if request.param == "as they are":
        return ASSETS / "results"
    folder = tmp_path_factory.mktemp("results")
    for path in FOLDERS:
        (folder / path.name).mkdir()
        found = json.loads((path / "results.json").read_text(encoding="utf-8"))
        (folder / path.name / "results.json").write_text(json.dumps(twice(found)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def charted(results: Path, recordings: Path) -> Iterator[str]:
    with launched(Pipeline, traces=recordings, results=results) as address:
        yield address


@pytest.mark.browser
def test_every_cell_and_bar_stands_where_its_table_and_its_file_say(page: Any, charted: str) -> None:
    page.set_default_timeout(60_000)  # plotly's script is large
    page.goto(f"{charted}/?tab=results")
    page.wait_for_selector(".hx-res-preset")
    files = {path.name: json.loads((path / "results.json").read_text(encoding="utf-8")) for path in FOLDERS}
    presets = dict.fromkeys(file["about"]["preset"] for file in files.values())
    seen = 0
    for preset in presets:
        section = page.locator(f"[data-preset='{preset}']")
        own = {name: file for name, file in files.items() if file["about"]["preset"] == preset}
        head, *rows = drawn_table(section.locator(".hx-plot-rates"))
        assert head[1:] == [file["about"]["machine"] for file in own.values()]
        said = {(row[0], name): cell for row in rows for name, cell in zip(own, row[1:], strict=True) if cell != "–"}
        assert len(rows) == len({row[0] for row in rows}), "each stack once"
        held = {
            (row.get("stack") or row.get("name"), name): rate(row["tokens_per_s"])
            for name, file in own.items()
            for row in (*file["stacks"], *file["peers"])
            if row["tokens_per_s"]
        }
        assert said == held
        bars = section.locator(".hx-plot-rates").evaluate(RATES)
        assert len(bars) == len(said)
        for stack, name, value in bars:
            assert value == pytest.approx(float(said[stack, name]), abs=0.06 if value < 100 else 0.6), (stack, name)
        for chart, file in zip(section.locator(".hx-plot-tasks").all(), own.values(), strict=True):
            (_, *tasks), *rows = drawn_table(chart)
            gains = {row["stack"]: row["tasks"] for row in file["stacks"] if row["stack"] != row["plain"]}
            table = {row[0]: dict(zip(tasks, row[1:], strict=True)) for row in rows}
            assert len(rows) == len(table) == len(gains), "each stack once"
            assert table == {
                stack: {task: f"{gain:.2f}×" for task, gain in own.items()} for stack, own in gains.items()
            }
            cells = {(stack, task.replace(" ", "_")): text for stack, task, text in chart.evaluate(TASKS)}
            assert cells == {(stack, task): text for stack, own in table.items() for task, text in own.items()}
            seen += len(cells)
    assert seen > 100


def drawn_table(chart: Any) -> list[list[str]]:
    """The table of a chart that is drawn by now."""
    chart.scroll_into_view_if_needed()
    chart.locator(".main-svg").first.wait_for()
    found: list[list[str]] = chart.evaluate(TABLE)
    return found


@pytest.mark.browser
def test_one_stack_alone_is_called_the_default(page: Any, charted: str) -> None:
    page.goto(f"{charted}/?tab=results")
    page.wait_for_selector(".hx-res-preset")
    for preset in Pipeline.catalogue():
        rows = page.locator(f"[data-preset='{preset['name']}'] tr:has(.hx-res-tag)")
        stacks = rows.evaluate_all("(rows) => rows.map((row) => row.dataset.stack)")
        assert stacks in ([], [preset["default_stack"]])
    assert page.locator(".hx-res-tag").count()


# ---- the Planner's, whose data and tables the server makes


@pytest.mark.parametrize("path", VALIDATIONS, ids=lambda path: path.stem)
def test_what_was_predicted_and_measured_is_drawn_as_its_table_says(path: Path) -> None:
    shown = validation_figure(measured_from(json.loads(path.read_text(encoding="utf-8"))), Ink(False, 1440))
    table = {safe(row[0]): row for row in shown["table"]["rows"]}
    assert len(table) == len(shown["table"]["rows"])
    predicted, took = shown["figure"]["data"]
    for column, trace in ((1, predicted), (2, took)):
        cells = dict(zip(trace["y"], trace["x"], strict=True))
        assert {name: f"{ms:.1f}" for name, ms in cells.items()} == {name: row[column] for name, row in table.items()}


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_the_dots_of_a_profile_s_levels_stand_where_their_table_says(path: Path) -> None:
    asked = parse({"profile": json.loads(path.read_text(encoding="utf-8"))})
    shown = answer(planned(asked), Look(figures=frozenset({"surface"})))["figures"]["surface"]
    dots = shown["figure"]["data"][-1]
    drawn = [
        [name.strip(), percent(x, 1), f"{ratio:.3g}", block, f"{gain:.2f}×"]
        for name, x, (block, gain, ratio) in zip(dots["text"], dots["x"], dots["customdata"], strict=True)
    ]
    assert drawn == [[safe(row[0]), *row[1:]] for row in shown["table"]["rows"]]
    assert dots["y"] == [pytest.approx(max(RATIOS[0], ratio)) for _, _, ratio in dots["customdata"]]
