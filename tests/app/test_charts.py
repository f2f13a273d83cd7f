"""What the charts of the Results tab draw is what their tables say, and what the benchmark's file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.kit.static import ASSETS
from app.tabs.planner.answer import answer, planned
from app.tabs.planner.figures.ink import Ink, percent, safe
from app.tabs.planner.figures.surface import RATIOS
from app.tabs.planner.figures.validation import validation_figure
from app.tabs.planner.profiles.plan_request import Look, parse
from app.tabs.planner.profiles.validations import measured_from
from hsd_core.grammar.stack_names import stack_names
from hsd_core.measure.bench.summary import results
from hsd_core.measure.rawfile import read_raw
from hsd_core.pipeline import Pipeline

FOLDERS = sorted(path.parent for path in (ASSETS / "results").glob("*/results.json"))
PROFILES = sorted(path for path in (ASSETS / "profiles").glob("*.json") if not path.stem.endswith("-validation"))
VALIDATIONS = sorted((ASSETS / "profiles").glob("*-validation.json"))

# Labels stand beside the cells and bars as a reader sees them; what they measure is read from where they are drawn.
TASKS = """(el) => {
  const middle = (x) => { const box = x.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
  const { xaxis } = el.querySelector('.js-plotly-plot')._fullLayout;
  const lines = (x) => [...x.querySelectorAll('.line')].map((y) => y.textContent).join(' ') || x.textContent;
  const rows = [...el.querySelectorAll('.ytick text')].map((x) => [lines(x), middle(x)]);
  const nearest = (y) => rows.reduce((a, b) => (Math.abs(b[1] - y) < Math.abs(a[1] - y) ? b : a))[0];
  return [...el.querySelectorAll('.heatmap-label text')].map((x) => [
    nearest(middle(x)), xaxis._categories[Math.round(xaxis.p2l(+x.getAttribute('x')))], x.textContent]);
}"""
# Every row of the chart: its part, its name, its cells, and how long its bar is beside the line of plain decoding.
BARS = """(el) => [...el.querySelectorAll('tr:has(.hx-res-track)')].map((row) => {
  const track = row.querySelector('.hx-res-track');
  const one = track.getBoundingClientRect().width * parseFloat(track.style.getPropertyValue('--one')) / 100;
  const cells = [...row.cells].slice(2).map((x) => x.innerText.replaceAll('\\n', ' '));
  const length = row.querySelector('.hx-res-fill').getBoundingClientRect().width / one;
  return [row.parentElement.dataset.target, row.dataset.stack ?? row.dataset.peer, cells, length];
})"""
TABLE = "(el) => [...el.querySelectorAll('.hx-figure-data tr')].map((row) => [...row.cells].map((x) => x.textContent))"


def rate(value: float) -> str:
    """Three significant digits, as the page writes figures."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shown(stack: dict[str, Any], dtype: str) -> list[str]:
    """The cells of a stack that the page has to show, from what its raw runs give."""
    low, high = stack["interval"]
    plain = stack["stack"] == stack["plain"]
    gain = f"{stack['speed_up']:.2f}×" + ("" if plain else f" {low:.2f} to {high:.2f}")
    target = stack["plain"].partition("@dtype=")[2] or dtype
    alike = "yes" if stack["equal"] == 1.0 else f"{round(stack['equal'] * stack['prompts'])} of {stack['prompts']}"
    rounded = target != "float32" and "@tree=" in stack["stack"]  # a tree's mask adds in another order
    exact = stack["equal"] == 1.0 or rounded or "price" in stack
    assert exact, f"{stack['stack']} writes another text than its target alone"
    same = f"plain {target}" if plain else f"{alike}, {target}’s"
    if price := stack.get("price"):
        share = 100 * price["spared"]
        same += f"; {share:.2g}" if 0 < share < 9.95 else f"; {share:.0f}"
        same += "\u2009% not its own"
    return [gain, rate(stack["tokens_per_s"]), f"{stack['accepted_per_pass']:.2f}", same]


@pytest.mark.browser
def test_every_figure_in_sight_is_what_the_raw_runs_give(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=results")
    page.wait_for_selector(".hx-res-bars")
    for folder in FOLDERS:
        about, records = read_raw(folder / "runs.jsonl")
        made = results(about, records)
        page.get_by_label("model and machine").select_option(folder.name)
        rows = {
            (part, name): (cells, length) for part, name, cells, length in page.locator(".hx-res-bars").evaluate(BARS)
        }
        for stack in made["stacks"]:
            cells, length = rows.pop((stack["plain"], stack["stack"]))
            assert cells == shown(stack, about["dtype"])
            assert length == pytest.approx(stack["speed_up"], abs=0.02)
        for peer in made["peers"]:
            if peer["tokens_per_s"] is None:
                continue
            whole = peer["same_tokens"] == 1.0
            same = "yes, float32’s" if whole else f"no, the first {100 * peer['same_tokens']:.0f} %"
            cells, length = rows.pop(("target" if whole else "other", peer["name"]))
            assert cells == [f"{peer['beside_plain']:.2f}×", rate(peer["tokens_per_s"]), "", same]
            assert length == pytest.approx(peer["beside_plain"], abs=0.02)
        assert rows == {}, "nothing else is shown"
        said = page.locator(".hx-res-claim").inner_text()
        best = made["claim"]["best"][0]
        for entry in (best, *made["claim"]["loses"]):
            low, high = entry["interval"]
            assert f"{entry['speed_up']:.2f}" in said and f"({low:.2f} to {high:.2f})" in said
            assert f"{entry['passes']:.2f} passes" in said and f"yields {entry['tokens']:.2f} tokens" in said
        usual = next(one["default_stack"] for one in Pipeline.catalogue() if one["name"] == about["preset"])
        whole = any(row["asked"] == "default" or row["stack"] == usual for row in made["stacks"])
        for entry in made["claim"]["best"][1:]:
            assert (f"levels: {entry['speed_up']:.2f}" in said) is whole, (
                "a choice of stacks ranks no numbers of levels"
            )
        assert page.url.endswith(f"bench={folder.name}")


@pytest.mark.browser
@pytest.mark.everything
def test_every_cell_of_the_tasks_stands_where_its_table_and_its_file_say(page: Any, shipped: str) -> None:
    file = json.loads((ASSETS / "results" / "smollm2-epyc-milan" / "results.json").read_text(encoding="utf-8"))
    page.goto(f"{shipped}/?tab=results&bench=smollm2-epyc-milan")
    page.locator(".hx-more[data-more=tasks] > summary").click()
    chart = page.locator(".hx-plot-tasks")
    (_, _, *tasks), *rows = drawn_table(chart)
    gains = {row["stack"]: row["tasks"] for row in file["stacks"] if row["stack"] != row["plain"]}
    table = {row[1]: dict(zip(tasks, row[2:], strict=True)) for row in rows}
    assert {row[1]: row[0] for row in rows} == stack_names(gains)
    assert len(rows) == len(table) == len(gains), "each stack once"
    assert table == {stack: {task: f"{gain:.2f}×" for task, gain in own.items()} for stack, own in gains.items()}
    cells = {(stack, task.replace(" ", "_")): text for stack, task, text in chart.evaluate(TASKS)}
    called = stack_names(gains)
    assert cells == {(called[stack], task): text for stack, own in table.items() for task, text in own.items()}


def drawn_table(chart: Any) -> list[list[str]]:
    """The table of a chart that is drawn by now."""
    chart.scroll_into_view_if_needed()
    chart.locator(".main-svg").first.wait_for()
    found: list[list[str]] = chart.evaluate(TABLE)
    return found


@pytest.mark.browser
@pytest.mark.everything
def test_one_stack_alone_is_called_the_default(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=results")
    page.wait_for_selector(".hx-res-bars")
    found = {}
    for folder in FOLDERS:
        page.get_by_label("model and machine").select_option(folder.name)
        rows = page.locator(".hx-res-bars tr:has(.hx-res-tag)")
        found[folder.name] = rows.evaluate_all("(rows) => rows.map((row) => row.dataset.stack)")
    defaults = {preset["name"]: preset["default_stack"] for preset in Pipeline.catalogue()}
    for folder in FOLDERS:
        about, _ = read_raw(folder / "runs.jsonl")
        assert found[folder.name] in ([], [defaults[about["preset"]]])
    assert any(found.values())


# ---- the Planner's, whose data and tables the server makes


@pytest.mark.parametrize("path", VALIDATIONS, ids=lambda path: path.stem)
def test_what_was_predicted_and_measured_is_drawn_as_its_table_says(path: Path) -> None:
    shown = validation_figure(measured_from(json.loads(path.read_text(encoding="utf-8"))), Ink(False, 1440))
    table = {safe(row[1]): row for row in shown["table"]["rows"]}
    assert len(table) == len(shown["table"]["rows"])
    axis = shown["figure"]["layout"]["yaxis"]
    called = {stack: name.replace("<br>", " ") for stack, name in zip(axis["tickvals"], axis["ticktext"], strict=True)}
    assert called == {stack: row[0] for stack, row in table.items()} == stack_names(table)
    predicted, took = shown["figure"]["data"]
    for column, trace in ((2, predicted), (3, took)):
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
