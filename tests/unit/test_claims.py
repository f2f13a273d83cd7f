"""What a benchmark claims is worked out by hand, and every figure that is shipped for the page is its raw runs'."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.tabs.results.bundled_results import Bundled
from app.tabs.results.quick import _pairs
from hsd_core.measure.bench import Measurement, best_by_levels, summary
from hsd_core.measure.bench.summary import as_csv, claim, results
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.results import measured_on
from hsd_core.systems.exits.page import why_lost
from hsd_core.theory import read_profile
from hsd_core.theory.profiles.profile_store import shipped_profiles
from hsd_core.typed import encode

ASSETS = Path(__file__).resolve().parents[2] / "assets"
FOLDERS = sorted(path.parent for path in (ASSETS / "results").glob("*/results.json"))
S = 10**9
THREE, TWO, EXITS = "ngram:2,int4:5,target", "ngram:5,target", "exit:2@at=4,exit:4@at=8,target"
COPY, OTHER = "target@dtype=int8", "ngram:3,target@dtype=int8"


def runs(seconds: dict[str, tuple[float, float]]) -> list[Measurement]:
    """Two prompts of 30 tokens each, ten passes of the target, in so many seconds."""
    found = []
    for stack, both in seconds.items():
        zeros = (0,) * (stack.count(",") + 1)
        for prompt, took in enumerate(both):
            found.append(Measurement(prompt, "qa", stack, 30, int(took * S), 0, 10, zeros, zeros, 30, False, None))
    return found


MEASURED = runs(
    {
        "target": (3.0, 3.0),
        THREE: (1.0, 1.0),
        TWO: (2.0, 1.5),
        EXITS: (4.0, 4.0),
        COPY: (1.0, 1.0),
        OTHER: (4.0, 4.0),
    }
)


def test_the_best_of_each_number_of_levels_is_claimed_over_one_target_alone() -> None:
    said = claim(summary(MEASURED), MEASURED, "target")
    assert [(one["stack"], one["levels"]) for one in said["best"]] == [(THREE, 3), (TWO, 2)]
    assert said["best"][0]["speed_up"] == pytest.approx(3.0)
    assert [row["stack"] for row in best_by_levels(summary(MEASURED), "target")] == [THREE, TWO, "target"]


def test_more_levels_are_held_against_fewer_on_the_same_prompts() -> None:
    over = claim(summary(MEASURED), MEASURED, "target")["over"]
    assert over["speed_up"] == pytest.approx(3.5 / 2.0)
    assert over["interval"] == pytest.approx((1.5, 2.0))
    alone = [run for run in MEASURED if run.stack in ("target", TWO)]
    assert claim(summary(alone), alone, "target")["over"] is None


def test_a_stack_loses_whose_whole_interval_is_below_plain_decoding_of_the_same_target() -> None:
    said = claim(summary(MEASURED), MEASURED, "target")
    assert [one["stack"] for one in said["loses"]] == [EXITS], "the other one loses to another target"
    (lost,) = said["loses"]
    assert (lost["tokens"], lost["passes"]) == (pytest.approx(3.0), pytest.approx(4.0)), (
        "4 s for 10 rounds; 0.1 s a pass"
    )
    assert lost["speed_up"] == pytest.approx(lost["tokens"] / lost["passes"])
    once = [replace(run, decode_ns=2 * S) if run.stack == EXITS and run.prompt else run for run in MEASURED]
    assert claim(summary(once), once, "target")["loses"] == []


def test_a_benchmark_has_what_its_paper_reports_beside_it_or_is_left_out(tmp_path: Path) -> None:
    for name in ("with", "without", "wrong"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text((FOLDERS[0] / "results.json").read_text("utf-8"), "utf-8")
    paper = {
        "paper": "a table",
        "on": "a GPU",
        "why": "Rows cost more.",
        "rows": [{"name": "HD", "stack": "", "tasks": {"QA": 1.39}}],
    }
    (tmp_path / "with" / "paper.json").write_text(json.dumps(paper), "utf-8")
    (tmp_path / "wrong" / "paper.json").write_text(json.dumps({**paper, "rows": []}), "utf-8")
    assert {one["id"]: one["paper"] for one in Bundled(tmp_path).reports} == {"with": paper, "without": None}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_the_page_is_given_is_what_the_raw_runs_give(folder: Path) -> None:
    shipped = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    made = json.loads(encode(results(*read_raw(folder / "runs.jsonl"))))
    made["about"]["peak_mb"] = shipped["about"]["peak_mb"]  # of the process that ran them
    assert shipped == made
    assert (folder / "results.csv").read_text(encoding="utf-8").splitlines() == as_csv(made).splitlines()


def test_what_exits_take_of_a_pass_is_the_profile_s_of_that_machine() -> None:
    profile = read_profile(ASSETS / "profiles" / "smollm2-cpu.json")
    first, second = why_lost(f"{EXITS}", profile, None)
    costs = {level.name: level.cost(1) for level in profile.levels}
    assert first == {"at": 4, "of": 0, "share": costs["exit@at=4"] / costs["target"]}
    assert second == {"at": 8, "of": 0, "share": costs["exit@at=8"] / costs["target"]}
    assert why_lost("ngram:2,exit:3@at=5@id=lens,target", profile, None) == []
    for report in Bundled(ASSETS / "results").reports:
        own = measured_on(report["results"]["about"], shipped_profiles())
        assert own is None or own.about["machine"] == report["results"]["about"]["machine"]
        for stack, known in report["lost"].items():
            parts = known["exits"]
            assert own and [{**part, "of": 0} for part in parts] == why_lost(stack, own, None)
            assert {x["of"] for x in parts} <= {30}


def test_of_the_stacks_measured_with_a_preset_the_largest_gain_comes_first() -> None:
    def report(preset: str, **gains: float) -> dict[str, Any]:
        rows = [{"stack": stack, "speed_up": gain} for stack, gain in gains.items()]
        return {"about": {"preset": preset}, "stacks": rows}

    reports = [report("a", one=1.1, two=1.9), report("b", three=9.0), report("a", four=1.5)]
    assert _pairs("a", reports) == ["two", "four", "one"]
