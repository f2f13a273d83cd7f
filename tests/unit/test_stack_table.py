"""Stacks by load: reading a table, the plans that it makes, and runs that follow it in a batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from profiles import flat
from test_batch import all_of
from toys import output_of

from hsd_core.batch.batch import Batch
from hsd_core.cli import main
from hsd_core.cli.generate import repeat
from hsd_core.core import events as trace
from hsd_core.core.run_plans import Round
from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.load import decoding
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Costs, Profile
from hsd_core.theory.stack_table import LoadReplanner, StackTable, whole
from hsd_core.trace.checks import check
from hsd_core.trace.codec import from_dict, to_dict

TABLE = "1=table:2@id=order1,table:4@id=order3,table@id=order6;3=table:5@id=order1,table@id=order6;4=table@id=order6"
PAST = Round(0, (0,), ())


@pytest.fixture(scope="module")
def toy() -> Pipeline:
    return Pipeline.open("toy", stack=TABLE)


def test_a_table_is_one_stack_and_a_plan_for_every_row() -> None:
    table = StackTable.read(TABLE)
    assert table is not None and str(table) == TABLE
    assert table.stack == whole(TABLE) == "table:5@id=order1,table:4@id=order3,table@id=order6"
    assert {row: (plan.levels, plan.blocks) for row, plan in table.plans.items()} == {
        1: ((0, 1, 2), (2, 4)),
        3: ((0, 2), (5,)),
        4: ((2,), ()),
    }
    assert [table.row(load) for load in (1, 2, 3, 4, 32)] == [1, 1, 3, 4, 4]
    assert StackTable.read("ngram:2,target") is None and whole("ngram:2,target") == "ngram:2,target"


def test_a_level_that_only_drafts_comes_first() -> None:
    assert whole("1=nano:2,int8:4,target;2=ngram:3,target") == "ngram:3,nano:2,int8:4,target"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2=target", "begins with 2"),
        ("1=target;1=ngram:2,target", "1 follows 1"),
        ("1=target;ngram:2,target", "'ngram:2,target' is no row"),
        ("1=nano,target", "nano has no block length"),
        ("1=nano:2,int8:2,target;2=int8:2,nano:2,target", "another order"),
        ("1=ngram:2,target;2=ngram:2,target@dtype=int8", "another target"),
        ("1=oracle:2,target", "oracle"),
    ],
)
def test_what_is_no_table_is_refused(text: str, why: str) -> None:
    with pytest.raises(StackError, match=why):
        StackTable.read(text)


def test_levels_leave_at_once_and_join_a_few_rounds_after_the_last_change() -> None:
    load, table = [1], StackTable.read(TABLE)
    assert table is not None
    by = LoadReplanner(table, lambda: load[-1])
    assert by.first().levels == (0, 1, 2) and by.longest == 5
    assert by.after(PAST) is None
    load += [4]
    leaving = by.after(PAST)
    assert leaving is not None and (leaving.levels, leaving.load) == ((2,), 4)
    assert leaving.why == "4 requests at once, the plan from 4 on"
    load += [2]
    found = [by.after(PAST) for _ in range(5)]
    assert [plan and plan.levels for plan in found] == [None, None, None, (0, 1, 2), None]
    assert by.first().load == 2


def runs(toy: Pipeline, tokens: list[int], **how: Any) -> dict[int, list[Any]]:
    batch = Batch(len(tokens))

    def run(n: int, **given: Any) -> Iterator[trace.Event]:
        return toy.run(TABLE, "ab ba", max_new_tokens=n, seed=n, **how, **given)

    for n in tokens:
        batch.add(lambda clock, stop, n=n: run(n, clock=clock, stop=stop))
    return all_of(batch)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_of_a_batch_follows_the_row_of_the_runs_that_are_live(toy: Pipeline, temperature: float) -> None:
    found = runs(toy, [4, 12, 24, 60], temperature=temperature)
    events = found[3]
    plans = [event for event in events if event.event == "plan"]
    assert [(plan.load, plan.levels) for plan in plans] == [(4, (2,)), (3, (0, 2)), (2, (0, 1, 2))]
    assert events[0].replan == {"by_load": TABLE} and events[0].lossless
    for own in found.values():
        assert not check(own)
        assert [from_dict(part) for part in map(to_dict, own)] == own
    again = repeat(toy, events)
    assert again and again.plans == 3, "alone, but told how many others there were"
    if temperature == 0.0:
        plain = list(toy.run("table@id=order6", "ab ba", max_new_tokens=60))
        assert output_of(events) == output_of(plain)


def test_where_levels_rest_too_requests_are_counted_when_every_prompt_is_read(toy: Pipeline) -> None:
    def runner(stack: str, prompt: str, **how: Any) -> Iterator[trace.Event]:
        return toy.run(stack, prompt, max_new_tokens=4, **how)

    events = [event for _, event in decoding(runner, TABLE, ["ab ba"] * 5)]
    order = [type(event) for event in events if isinstance(event, trace.Commit) or first_reads(event)]
    assert order[:5] == [trace.Prefill] * 5 and order[5:] == [trace.Commit] * (len(order) - 5)


def first_reads(event: trace.Event) -> bool:
    return isinstance(event, trace.Prefill) and event.round is None


def test_a_run_alone_follows_the_first_row(toy: Pipeline) -> None:
    (plan,) = (event for event in toy.run(TABLE, "ab ba", max_new_tokens=8) if event.event == "plan")
    assert (plan.load, plan.levels, plan.blocks) == (1, (0, 1, 2), (2, 4))
    with pytest.raises(ValueError, match="a plan already"):
        next(toy.run(TABLE, "ab ba", replan=True))


def test_the_command_line_takes_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stacks = tmp_path / "stacks"
    stacks.write_text(f"{TABLE}\n", encoding="utf-8")
    command = ["bench", "--preset", "toy", "--stacks", str(stacks), "--max-new-tokens", "6", "--out", str(tmp_path)]
    assert main([*command, "--load", "1,4", "--turns", "1"]) == 0
    found = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert {(row["stack"], row["load"], row["equal"]) for row in found["rows"] if row["stack"] == TABLE} == {
        (TABLE, 1, 1.0),
        (TABLE, 4, 1.0),
    }
    assert main(command) == 2 and "1=table" in capsys.readouterr().err
    file = tmp_path / "run.jsonl"
    assert main(["generate", "--preset", "toy", "--stack", TABLE, "--prompt", "ab", "--trace", str(file)]) == 0
    assert f"by requests at once: {TABLE}" in capsys.readouterr().err
    assert main(["generate", "--repeat", str(file)]) == 0


def test_auto_in_a_batch_plans_over_the_costs_of_joint_passes(toy: Pipeline) -> None:
    stack, order = "table:2@id=order1,table@id=order6", ("order1", "order6")
    dear = Costs((1, 4, 64), (16.0, 17.0, 272.0))
    costs = (Costs((1, 64), (1.0, 64.0)), dear)
    levels = flat((1, 16), 0.9).levels
    made = [type(levels[0])(name, cost, f"table@id={name}") for name, cost in zip(order, costs, strict=True)]
    profile = Profile(tuple(made), ((1.0, 0.8), (0.0, 1.0)), max_block=8)
    batch = Batch(4)
    for n in (4, 60, 4, 4):
        auto = partial(toy.run, stack, "ab ba", max_new_tokens=n, replan=True, profile=profile)
        batch.add(lambda clock, stop, auto=auto: auto(clock=clock, stop=stop))
    events = all_of(batch)[1]
    plans = [event for event in events if event.event == "plan"]
    assert plans[0].load == 4 and plans[0].levels == (1,) and plans[0].why.startswith("4 requests at once: ")
    assert plans[-1].load == 1 and plans[-1].levels == (0, 1)
    assert repeat(toy, events)
    assert output_of(events) == output_of(list(toy.run("table@id=order6", "ab ba", max_new_tokens=60)))
