"""In a batch every run writes the text that it writes alone, whatever the others are, and follows its target's
distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from enumerator import SAMPLED, Distribution, Scripted, distance, every_path, target_distribution
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from tiny import tiny_compiled
from toys import output_of, toy_stack

import hsd_core
from hsd_core.batch.batch import Batch
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Commit, Draft, Event, Plan, Prefill, Verify
from hsd_core.core.level import StackEntry
from hsd_core.core.run_plans import Round, RunPlan
from hsd_core.models.joint_pass import runs_at_once
from hsd_core.models.sampling import Sampling
from hsd_core.theory.stack_table import LoadReplanner, StackTable
from hsd_core.trace.checks import check

EXACT = 1e-5
Make = Callable[..., Iterator[Event]]

KINDS = [
    "target",
    "table:2,table:3@rule=block,table@rule=block",
    "exit:2@at=2,target",
    "exit:2@at=1@policy=confidence@theta=0.5,exit:2@at=3@rule=block@policy=flush,target@rule=block",
    "ngram:2,exit:2@at=2,target@rule=block",
    "nano:2@id=fed,target",
    "nano:1@id=fed,exit:2@at=2@id=fed,target@bonus=0",
    "ngram:2@miss=own,target",
    "nano:1@id=fed,int8:2@policy=flush,target",
    "int8:1,int4:2,target",
    "model:2,target@rule=block",
    "self:2,target",
    "self:2@calibrate=0,target",
    "self:2@tree=2.1,target",
    "skip:2@set=a.1-m.2,target",
    "view:2@budget=6@keep=stream@sink=1,target",
    "exit:2@at=2@tree=2.2,target",
    "exit:3@at=1@grow=4@replace=1,target",
    "climb:2@at=1-2@theta=0.5,target",
    "exit:1@at=2@dtype=int8,int8:2,target@dtype=int8",
    "table:2,table@with=pearl",
    "model:2,target@with=ahead",
    "exit:2@at=1,target",  # planned again between rounds
]


def batched(runs: Sequence[Make], most: int) -> list[list[Event]]:
    """The events of runs that are decoded together."""
    batch, found = Batch(most), [list[Event]() for _ in runs]
    for run in runs:
        batch.add(partial(started, run))
    for number, event in batch.events():
        if isinstance(event, Exception):
            raise event
        found[number].append(event)
    return found


def started(run: Make, clock: EngineClock, stop: Callable[[], bool]) -> Iterator[Event]:
    return run(clock=clock, stop=stop)


def decided(events: Sequence[Event]) -> list[object]:
    """What a run decided, in order: the tokens that it drafted, kept, rejected and committed."""
    found: list[object] = []
    for event in events:
        if isinstance(event, (Draft, Commit)):
            found.append([(token.id, token.serial) for token in event.tokens])
        elif isinstance(event, Verify):
            found.append([(check.serial, check.outcome) for check in event.checks])
    return found


class Dropping:
    """A plan that leaves the lower level out in every other round."""

    longest = 2

    def settings(self) -> dict[str, Any]:
        return {}

    def first(self) -> RunPlan:
        return RunPlan((0, 1), (2,))

    def after(self, past: Round) -> RunPlan:
        return RunPlan((1,), ()) if past.index % 2 == 0 else self.first()


@pytest.mark.parametrize("temperature", [1.0, pytest.param(0.0, marks=pytest.mark.everything)])
def test_runs_of_every_kind_decide_what_they_decide_alone(temperature: float) -> None:
    beside_each_other(drafted_stacks(3), KINDS, temperature)


@pytest.mark.parametrize("temperature", [0.0, pytest.param(1.0, marks=pytest.mark.everything)])
def test_runs_of_compiled_models_decide_what_they_decide_alone(temperature: float) -> None:
    kinds = ["target", "exit:2@at=2,target", "int8:2,target", "int8:2@tree=2.1,int4:2,target", "self:2,target"]
    beside_each_other(LeanStacks(make=tiny_compiled), kinds * 2, temperature)


def beside_each_other(made: LeanStacks, kinds: Sequence[str], temperature: float) -> None:
    def make(i: int) -> Make:
        text = kinds[i]
        stack = toy_stack(text, 3, seed=i) if "table" in text else made.stack(text)
        prompt = [1, 0, 2, 2, 1][: 1 + i % 5]
        about, plan = Sampling(temperature), {"replan": Dropping} if text == KINDS[-1] else {}
        return lambda **how: hsd_core.run(
            stack, prompt, about, i, max_new_tokens=4 + i % 4, **{key: new() for key, new in plan.items()}, **how
        )

    runs = [make(i) for i in range(len(kinds))]
    for text, alone, beside in zip(kinds, [list(run()) for run in runs], batched(runs, most=4), strict=True):
        assert output_of(alone) == output_of(beside), text
        if "@with=" not in text:  # there the order of the work depends on times
            assert decided(alone) == decided(beside), text
        assert check(beside) == check(alone) == [], text


class Choosing(Scripted):
    """The choices of one of several runs, on one script."""

    def __init__(self, script: Scripted) -> None:
        super().__init__()
        self.pick = script.pick  # type: ignore[method-assign]


def joint_distribution(
    stacks: Sequence[Sequence[StackEntry]],
    prompt: Sequence[int],
    tokens: int,
    *,
    beside: Sequence[Make] = (),
    more: Callable[[], dict[str, Any]] = dict,
) -> dict[tuple[tuple[int, ...], ...], float]:
    """The joint distribution of the texts of runs in one batch, every path; those of `beside` are there too. more: of
    each run's settings."""

    def whole(script: Scripted) -> tuple[tuple[int, ...], ...]:
        def make(stack: Sequence[StackEntry]) -> Make:
            own: dict[str, Any] = {"choices": Choosing(script), "heads": 0, "max_new_tokens": tokens, **more()}
            return lambda **how: hsd_core.run(stack, prompt, SAMPLED, 0, **own, **how)

        events = batched([*map(make, stacks), *beside], most=len(stacks) + len(beside))
        return tuple(output_of(own) for own in events[: len(stacks)])

    found: dict[tuple[tuple[int, ...], ...], float] = {}
    for mass, outputs in every_path(whole):
        found[outputs] = found.get(outputs, 0.0) + mass
    return found


ENUMERATED = [
    ("exit:1@at=1,exit:2@at=2@rule=block,target", 2),
    pytest.param("nano:1@id=fed,exit:2@at=2,target@rule=block", 3, marks=pytest.mark.everything),
    pytest.param("nano:1@id=fed,int8:2@policy=flush,target", 3, marks=pytest.mark.everything),
    pytest.param("self:2,target", 3, marks=pytest.mark.everything),
    pytest.param("self:2@tree=2.1,target", 3, marks=pytest.mark.everything),
]


def beside(stack: Sequence[StackEntry], **how: Any) -> Iterator[Event]:
    return hsd_core.run(stack, [0, 1, 1], SAMPLED, 3, max_new_tokens=5, **how)


@pytest.mark.parametrize(("text", "tokens"), ENUMERATED)
def test_beside_other_runs_a_run_follows_its_targets_distribution(text: str, tokens: int) -> None:
    made = drafted_stacks(2)
    others = [partial(beside, made.stack(other)) for other in ("exit:2@at=2,target", "target")]
    found = joint_distribution([made.stack(text)], [1, 0], tokens, beside=others)
    own: Distribution = {output: mass for (output,), mass in found.items()}
    assert distance(own, model_distribution(made.target, [1, 0], tokens)) < EXACT


def test_the_texts_of_two_runs_are_independent() -> None:
    stacks = [toy_stack("table:1,table", 2, seed=3), toy_stack("table:2,table@rule=block", 2, seed=4)]
    found = joint_distribution(stacks, [0], 2)
    first, second = (target_distribution(stack, [0], 2) for stack in stacks)
    assert sum(abs(found.get((a, b), 0.0) - first[a] * second[b]) for a in first for b in second) < 1e-12
    assert len(found) == len(first) * len(second)


def by_load(text: str) -> LoadReplanner:
    table = StackTable.read(text)
    assert table is not None
    return LoadReplanner(table, runs_at_once)


@pytest.mark.parametrize("rows", [(1, 2), (2, 1)], ids=["alone drafted", "alone plain"])
def test_runs_that_plan_by_how_many_there_are_have_independent_texts(
    rows: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text may end at any token, and then the second one is drafted otherwise."""
    monkeypatch.setattr("hsd_core.theory.stack_table.REST", 0)
    both = {rows[0]: "table:1@id=a,table@id=b", rows[1]: "table@id=b"}
    table, ends = ";".join(f"{row}={both[row]}" for row in (1, 2)), frozenset([1])
    stacks = [toy_stack(both[rows[0]], 2, seed=seed) for seed in (3, 4)]
    found = joint_distribution(stacks, [0], 3, more=lambda: {"replan": by_load(table), "ends": ends})
    first, second = (target_distribution(stack, [0], 3, ends=ends) for stack in stacks)
    assert sum(abs(found.get((a, b), 0.0) - first[a] * second[b]) for a in first for b in second) < 1e-12
    assert len(found) == len(first) * len(second)


TABLES = [
    "1=ngram:2,nano:2@id=fed,int8:3,target;2=int8:2,target;3=target",
    "1=nano:1@id=fed,exit:2@at=2,target;3=exit:3@at=2,target",
    "1=model:2,int4:3,target;2=target;4=int4:2,target",
]


@pytest.mark.parametrize("make", ["lean", pytest.param("compiled", marks=pytest.mark.everything)])
def test_levels_that_rested_under_load_join_with_all_that_they_missed(make: str) -> None:
    made = drafted_stacks(3) if make == "lean" else LeanStacks(make=tiny_compiled)
    prompt, lengths = [1, 0, 2, 2, 1], (40, 30, 12, 4)

    def run(text: str, tokens: int, **how: Any) -> Iterator[Event]:
        replan = {} if text == "target" else {"replan": by_load(text)}
        stack = made.stack(text if text == "target" else by_load(text)._table.stack)
        return hsd_core.run(stack, prompt, Sampling(0.0), 0, max_new_tokens=tokens, **replan, **how)

    plain = output_of(list(run("target", lengths[0])))
    for table in TABLES if make == "lean" else ["1=int8:3,target;2=target;4=exit:2@at=2,target"]:
        found = batched([partial(run, table, tokens) for tokens in lengths], most=len(lengths))
        for events, tokens in zip(found, lengths, strict=True):
            assert output_of(events) == plain[:tokens], table
            assert check(events) == [], table
        plans = [event for event in found[0] if isinstance(event, Plan)]
        joined = [event for event in found[0] if isinstance(event, Prefill) and event.round]
        assert len({plan.load for plan in plans}) > 1 and joined, table
