"""Stacks under load: the price of a joint pass in the theory, crossing points, and `bench --load`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lean_stacks import LeanStacks
from torch import Tensor

import hsd_core
from hsd_core.batch import batch
from hsd_core.batch.batch import ROWS as ROWS_OF_A_PASS
from hsd_core.batch.batch import _answers
from hsd_core.cli import main
from hsd_core.measure.calibrate.joint_costs import LENGTH, ROWS, joint_costs
from hsd_core.measure.load import LoadRun, decoding, load_run, summary, theory_rate
from hsd_core.measure.load_report import by_sitting, sittings_table, table
from hsd_core.models.joint_pass import Offered
from hsd_core.models.sampling import Sampling
from hsd_core.theory import Costs, Profile, ProfileLevel, plan_of
from hsd_core.theory.latency.played_batch import joint_ms, play_batch
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.under_load import under_load, with_joint
from hsd_core.typed import convert
from hsd_core.typed.program_files import ASSETS

STACK = "int8:4,target"
NO_PASSES = ((0, 0.0, 0, 0),)
MANY = ROWS_OF_A_PASS // LENGTH + 1  # texts, whose prompts do not fit into one pass


def profile(target: Costs) -> Profile:
    levels = (ProfileLevel("int8", target.scaled(0.2), "int8"), ProfileLevel("target", target, "target"))
    return Profile(levels, ((1.0, 0.8), (0.0, 1.0)))


def test_where_rows_cost_nothing_a_stack_pays_alike_at_every_load() -> None:
    free = profile(Costs.constant(10.0))
    alone = [theory_rate(free, stack, 1) for stack in (STACK, "target")]
    assert [theory_rate(free, stack, 8) for stack in (STACK, "target")] == pytest.approx([8 * one for one in alone])
    assert under_load(free, 1) is free


def test_where_every_row_costs_a_stack_stops_paying() -> None:
    priced = profile(Costs((1, 8, 64), (10.0, 12.0, 96.0)))  # eight rows are almost free, then each is dear
    ratio = {}
    for load in (1, 2, 8, 32):
        rate, plain = theory_rate(priced, STACK, load), theory_rate(priced, "target", load)
        assert rate is not None and plain is not None
        ratio[load] = rate / plain
    assert ratio[1] > ratio[2] > 1.0 > ratio[8]
    assert theory_rate(priced, "exit:2@at=4,target", 1) is None


def test_measured_joint_passes_take_the_place_of_passes_of_one_text() -> None:
    joint = {"target": {1: Costs((1, 8), (9.0, 11.0)), 4: Costs((1, 8), (12.0, 40.0))}}
    found = under_load(with_joint(profile(Costs((1, 8), (10.0, 13.0))), joint), 4)
    assert found.levels[1].cost(1) == pytest.approx(10.0 * 12.0 / 9.0 / 4)
    assert found.levels[1].cost(8) == pytest.approx(13.0 * 40.0 / 11.0 / 4)
    assert found.levels[0].cost(1) == pytest.approx(profile(Costs((1, 8), (10.0, 13.0))).levels[0].cost(4) / 4)


LINES = Profile(  # a row costs 1 ms beside 2 or 10
    tuple(ProfileLevel(name, Costs((1, 2), (ms, ms + 1.0)), name) for name, ms in (("int8", 3.0), ("target", 11.0))),
    ((1.0, 1.0), (0.0, 1.0)),
)


def test_a_batch_is_played_pass_by_pass() -> None:
    """Two rounds: four drafts of a row of each of two texts (in the second one the last token and the bonus are read
    first), and five rows of each text."""
    found = play_batch(LINES, plan_of(LINES, STACK), [10, 10])
    assert (found.tokens, found.ms) == (20, pytest.approx(4 * 4 + 20 + (6 + 3 * 4) + 20))
    assert found.passes == [[8, pytest.approx(34.0), 18, 16], [2, pytest.approx(40.0), 20, 4]]
    assert play_batch(LINES, plan_of(LINES, STACK), [5, 10]).tokens == 10, "until the first text is over"


def test_decoding_alone_takes_what_the_recursion_says() -> None:
    lookups = ProfileLevel("ngram", Costs.constant(0.2), "ngram", 0.5, (1.0, 0.7, 0.5))
    three = Profile((lookups, *LINES.levels), ((1.0, 0.6, 0.6), (0.0, 1.0, 0.8), (0.0, 0.0, 1.0)), round_ms=0.3)
    for stack in ("target", "ngram:5,target", STACK, "ngram:3,int8:4,target"):
        plan = plan_of(three, stack)
        exact = Pricer(three, catch_up=True).price(plan).ms_per_token
        (one, *eight) = (play_batch(three, plan, [3000 // n] * n) for n in (1, 8))
        assert one.ms / one.tokens == pytest.approx(exact, rel=0.04), stack
        alike = Pricer(under_load(three, 8), catch_up=True).price(plan).ms_per_token
        assert 0.97 < eight[0].ms / eight[0].tokens / alike < 1.12, stack


def test_a_joint_pass_lies_between_the_measured_ones() -> None:
    joint = {"target": {1: Costs((1, 8), (10.0, 17.0)), 4: Costs((1, 8), (16.0, 44.0))}}
    target = with_joint(LINES, joint).levels[1]
    assert joint_ms(target, target.cost, 1, 1) == 11.0
    assert joint_ms(target, target.cost, 4, 4) == pytest.approx(11.0 * 16 / 10)
    assert joint_ms(target, target.cost, 2, 2) == pytest.approx(11.0 * (10 + 6 / 3) / 10)
    assert joint_ms(target, target.cost, 8, 8) == pytest.approx(11.0 * 2 * 16 / 10), "as twice the largest"
    assert joint_ms(LINES.levels[1], LINES.levels[1].cost, 6, 4) == 16.0, "by its rows where none was measured"


def test_joint_passes_are_measured_in_lock_step(monkeypatch: pytest.MonkeyPatch) -> None:
    made, groups = LeanStacks(), list[tuple[int, ...]]()
    entries = made.stack("int8:2,target")

    def answers(group: Sequence[Offered]) -> Sequence[Tensor | Exception]:
        groups.append(tuple(offered.mine.rows for offered in group))
        return _answers(group)

    with monkeypatch.context() as watched:
        watched.setattr(batch, "_answers", answers)
        joint_costs(entries[1:], range(50), [MANY])
    assert {len({*rows}) for rows in groups} == {1} and {len(rows) for rows in groups} == {1, MANY}
    found = joint_costs(entries, range(50), [3])
    assert {name: {load: costs.rows for load, costs in own.items()} for name, own in found.items()} == {
        name: {1: ROWS, 3: ROWS} for name in ("int8", "target")
    }
    known = with_joint(profile(Costs.constant(1.0)), found)
    assert joint_costs(entries, range(50), [3], known=known) == found, "a profile that has them is not measured again"
    part = with_joint(known, {"int8": {1: found["int8"][1]}})
    again = joint_costs(entries, range(50), [3], known=part)
    assert again["target"] == found["target"] and again["int8"].keys() == {1, 3}


def batches(speed_ups: dict[int, float], turns: int = 3) -> list[LoadRun]:
    """Plain decoding at 10 tokens/s in sum, and a stack at so many times that, by load."""
    return [
        LoadRun(
            load, turn, stack, (10,) * load, (10**9,) * load, round(load * 10**9 / times), 10 * load, load, NO_PASSES
        )
        for load, speed_up in speed_ups.items()
        for turn in range(turns)
        for stack, times in (("target", 1.0), (STACK, speed_up))
    ]


def test_all_tokens_of_the_pass_with_which_the_first_text_ends_count() -> None:
    """The runs of a batch commit one after another; those after the first one that ends have decoded as much."""
    stack = LeanStacks().stack("int8:3,target")

    def runner(name: str, prompt: str, **how: Any) -> Any:
        return hsd_core.run(stack, [1, 2], Sampling(0.0), 0, max_new_tokens=8, **how)

    events = [*decoding(runner, "", ["a"] * 3)]
    runs = [[event for at, event in events if at == i] for i in range(3)]
    found = load_run(3, 0, "", runs, runs)
    assert found.together == sum(found.tokens) == 24
    assert found.ns == max(found.decode_ns)


@pytest.mark.parametrize(
    ("speed_ups", "at", "says"),
    [
        ({1: 2.0, 2: 1.5, 4: 0.5}, 2**1.5, "pays up to 2.8 requests (2.8 to 2.8)"),
        ({1: 2.0, 2: 1.5, 4: 1.1}, None, "pays at every load up to 4"),
        ({1: 0.9, 2: 0.5}, 0.0, "pays at none of these loads"),
    ],
)
def test_the_crossing_point_lies_between_two_loads(speed_ups: dict[int, float], at: float | None, says: str) -> None:
    found = summary(batches(speed_ups))
    assert found["crossings"] == {STACK: {"at": pytest.approx(at), "low": pytest.approx(at), "high": pytest.approx(at)}}
    assert [row["speed_up"] for row in found["rows"] if row["stack"] == STACK] == pytest.approx([*speed_ups.values()])
    assert says in table(found)


def test_errors_of_the_day_and_of_the_model() -> None:
    """On two days the same stack is half as quick as predicted; on the second one the machine is slower."""
    fast, slow = (summary(batches({1: 0.5, 2: 0.5}, turns), LINES) for turns in (2, 3))
    for number, found in enumerate((fast, slow)):
        found["about"] = {"recorded": f"day {number}", "machine": "a test"}
        for row in found["rows"]:
            ms = 40.0 * (1 + number)  # of plain decoding
            row["predicted_sum"], row["sum"] = 1000.0 / 40.0 * (2.0 if row["stack"] == STACK else 1.0), 1000.0 / ms
            row["speed_up"], row["predicted_speed_up"] = 1.0, 2.0 if row["stack"] == STACK else 1.0
    rows = {(row["stack"], row["load"]): row for row in by_sitting([fast, slow])}
    assert rows["target", 1]["each"] == {"day 0, a test": 0.0, "day 1, a test": 1.0}
    assert (rows["target", 2]["model"], rows["target", 2]["day"]) == (0.5, 0.5)
    assert (rows[STACK, 2]["model"], rows[STACK, 2]["day"]) == (1.0, 0.0)
    assert "| +100% | +100% | +100% | 0% |" in sittings_table([*rows.values()])


def test_a_request_has_its_own_rate_with_an_interval() -> None:
    found = summary(batches({2: 1.0}), LINES)
    row = found["rows"][0]
    assert (row["each"], row["each_interval"]) == (10.0, (10.0, 10.0))
    assert {error["stack"]: error["costs"] for error in found["errors"]}[STACK] == pytest.approx(
        row["predicted_sum"] / row["sum"] - 1
    )
    assert "off by" in table(found)


def test_bench_measures_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "--preset", "toy", "--max-new-tokens", "4", "--load"]
    assert main([*command, "2,1", "--turns", "1", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert {(row["load"], row["equal"]) for row in found["rows"]} == {(1, 1.0), (2, 1.0)}
    assert all(len(run["tokens"]) == run["load"] for run in found["runs"])
    assert "| requests |" in (tmp_path / "load.md").read_text(encoding="utf-8")
    lines = (tmp_path / "batches.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "batches.jsonl").write_bytes(b"".join(lines[:-1]))  # as if it had been killed within the second load
    assert main([*command, "2,1", "--turns", "1", "--out", str(tmp_path)]) == 0
    again = (tmp_path / "batches.jsonl").read_bytes().splitlines(keepends=True)
    kept = 2 + len(lines[2:]) * 2 // 3  # two batches of one request, then one of two
    assert again[:kept] == lines[:kept] and len(again) == len(lines) and again[kept] != lines[kept]
    after = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert main([*command, "2,1", "--turns", "1", "--out", str(tmp_path), "--sittings", str(tmp_path)]) == 2
    assert "no predicted stack in common" in capsys.readouterr().err
    assert after["joint_ms"] == found["joint_ms"] and after["runs"][: kept - 2] == found["runs"][: kept - 2]
    assert main([*command, "0"]) == 2
    assert "numbers of requests from 1" in capsys.readouterr().err


@pytest.mark.parametrize("path", sorted((ASSETS / "results").glob("*/load.json")), ids=lambda path: path.parent.name)
def test_shipped_tables_are_what_their_batches_give(path: Path) -> None:
    found = json.loads(path.read_text(encoding="utf-8"))
    records = [json.loads(line) for line in path.with_name("batches.jsonl").read_text(encoding="utf-8").splitlines()]
    assert records[2:] == found["runs"] and found["about"].items() <= records[0].items()
    again = summary([convert(record, LoadRun) for record in records[2:]])
    measured = ("stack", "load", "sum", "each", "each_interval", "speed_up", "interval", "equal", "passes")
    for row, shipped in zip(json.loads(json.dumps(again["rows"])), found["rows"], strict=True):
        assert {name: row[name] for name in measured} == {name: shipped[name] for name in measured}
    assert json.loads(json.dumps(again["crossings"])) == found["crossings"]
    assert path.with_name("load.md").read_text(encoding="utf-8") == f"{table(found)}\n"
