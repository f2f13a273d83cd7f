"""Runs make room for the largest plan that they may follow, and their memory is counted by it."""

from __future__ import annotations

import pytest
from lean_stacks import LeanStacks, RandomDraft
from plans_kit import Chosen, by_outcomes
from test_replan import GREEDY, STACK, TOY
from toys import output_of

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.core.run_plans import RunPlan
from hsd_core.grammar.keys import GUESS
from hsd_core.grammar.stack_text import parse
from hsd_core.levels.memory import largest_round, most_nodes
from hsd_core.models import machine
from hsd_core.models.machine import TooLarge
from hsd_core.pipeline import Pipeline
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.trace import checks as identities

LONG = 8  # T of the largest plan; all are written with T = 1
# What followed 8, 9 before differs: three sequences are looked up, each a branch of its own.
PROMPT = [8, 9, *range(10, 22), 8, 9, *range(22, 34), 8, 9, *range(34, 46), 8, 9]


def several(text: str) -> list[StackEntry]:
    """The stack on random lean models, its lookups HD's databases over the context."""
    made = LeanStacks(layers=2, vocab=48)
    made.drafts = {"nano": RandomDraft(made.target, fed=True)}
    stack, specs = made.stack(text), parse(text)
    if specs[0].name == "ngram":
        level = NgramLevel(lambda: Databases("c"), made.target.vocab_size, guess=specs[0][GUESS])
        stack[0] = StackEntry(level, specs[0], specs[0].block)
    return stack


@pytest.mark.parametrize("text", ["ngram:1@guess=3,target", "nano:1@fuse=3,target", "ngram:1@guess=3,int4:1,target"])
@pytest.mark.parametrize("tokens", [2, 8, 24])
def test_greedy_runs_whose_plans_outgrow_the_written_block_give_the_targets_own_ids(text: str, tokens: int) -> None:
    stack = several(text)
    plain = output_of(list(hsd_core.run(stack[-1:], PROMPT, GREEDY, 0, max_new_tokens=tokens)))
    top = len(stack) - 1
    every = tuple(range(len(stack)))
    among = [RunPlan((0, top), (LONG,)), RunPlan(every, (LONG,) * top), RunPlan((0, top), (2,)), RunPlan((top,), ())]
    for first in among[:2]:
        by = Chosen(lambda past, first=first: by_outcomes(among)(past) if past else first, longest=LONG)
        events = list(hsd_core.run(stack, PROMPT, GREEDY, 0, max_new_tokens=tokens, replan=by))
        assert output_of(events) == plain
        assert identities.check(events) == []


@pytest.mark.parametrize("text", ["ngram:1@guess=3,target", "nano:1@fuse=3,target"])
def test_the_room_of_the_written_stack_would_not_do(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hsd_core.stacks.prepared.largest_round", lambda stack, longest: list(stack))
    by = Chosen(lambda past: RunPlan((0, 1), (LONG,)), longest=LONG)
    with pytest.raises((ValueError, RuntimeError, AssertionError)):
        list(hsd_core.run(several(text), PROMPT, GREEDY, 0, max_new_tokens=8, replan=by))


@pytest.mark.parametrize(
    ("text", "nodes"),
    [("ngram:1@guess=3,target", 24), ("nano:1@fuse=3,target", 32), ("nano:2@tree=1.1@fuse=3,target", 32)],
)
def test_nodes_are_counted_from_the_longest_block_of_a_plan(text: str, nodes: int) -> None:
    stack = several(text)
    assert most_nodes(largest_round(stack, LONG)) == nodes
    assert largest_round(stack, None) == stack
    assert largest_round(stack, LONG)[-1] is stack[-1]


def test_the_memory_of_a_replanned_run_is_that_of_its_largest_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline.open("toy")
    written, replanned = (pipeline.memory(STACK, 60, longest).at_work for longest in (None, TOY.max_block))
    assert written < replanned
    monkeypatch.setattr(machine, "free_bytes", lambda device: replanned - 1)
    asked = {"raw": True, "max_new_tokens": 40, "profile": TOY}
    assert list(pipeline.run(STACK, "a" * 20, **asked))
    with pytest.raises(TooLarge, match="a run over 60 tokens"):
        pipeline.run(STACK, "a" * 20, replan=True, **asked)
    monkeypatch.setattr(machine, "free_bytes", lambda device: replanned)
    assert list(pipeline.run(STACK, "a" * 20, replan=True, **asked))
