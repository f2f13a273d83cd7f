"""Runs whose levels and block lengths change between rounds, chosen by what was seen: the distribution of whole runs.

Every branch of every random choice is enumerated; the plans are a function of what earlier rounds drafted, judged and
committed, so that paths part in their plans as well as in their tokens.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from cases import ENDS, in_turn
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from lean_stacks import LeanStacks, RandomDraft, model_distribution
from plans_kit import Chosen, by_outcomes, plans
from toys import toy_stack

import hsd_core
from hsd_core.core import run as engine
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.run_plans import Round, RunPlan
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling

EXACT = 1e-12
EXACT_FLOAT32 = 1e-5
WRONG = 1e-3

TABLES = [
    # stack, vocabulary, tokens
    ("table:2,table", 3, 4),
    ("table:2,table@rule=block", 2, 5),
    ("table:2@policy=adaptive,table:2,table", 2, 4),
    ("table:2,table:3@rule=block@policy=flush,table@rule=block", 2, 4),
    ("ngram:2,table:2,table", 2, 4),
    ("ngram:2,table:2@policy=confidence@bonus=0,table@bonus=0@rule=block", 2, 4),
    ("table:1,table:2,table:2@rule=block,table", 2, 4),
]


def replanner(text: str) -> Chosen:
    levels = text.split(",")
    return Chosen(by_outcomes(plans(len(levels), bottom_only=[0] if levels[0].startswith("ngram") else [])))


@in_turn("text, vocab, tokens, ends", TABLES, ENDS)
def test_levels_that_come_and_go_leave_the_targets_distribution(
    text: str, vocab: int, tokens: int, ends: frozenset[int]
) -> None:
    stack, chosen = toy_stack(text, vocab, seed=7), replanner(text)
    found = run_distribution(stack, [0], tokens, ends=ends, replan=chosen)
    assert distance(found, target_distribution(stack, [0], tokens, ends=ends)) < EXACT
    assert len(chosen.seen) > 1, "the plan never changed"


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(0.0)])
def test_cut_distributions_too(sampling: Sampling) -> None:
    text = "table:2,table:2@rule=block,table"
    stack = toy_stack(text, 3, seed=5)
    found = run_distribution(stack, [0], 4, sampling=sampling, replan=replanner(text))
    assert distance(found, target_distribution(stack, [0], 4, sampling=sampling)) < EXACT


SHARED = [
    # stack, tokens
    ("exit:2@at=1,exit:2@at=3@rule=block,target", 4),
    ("exit:2@at=2@id=own,target@rule=block", 4),
    ("ngram:2,exit:2@at=2@id=own,target", 4),
    ("nano:2@id=fed,target", 4),
    ("nano:1@id=fed,int8:2,target@rule=block", 3),
    ("nano:1@id=fed,exit:2@at=2@policy=flush,target", 3),
    ("ngram:2@miss=fed,int8:1,target", 3),
    ("exit:1@at=2@dtype=int8,int8:2,target", 3),
    ("exit:2@at=3@policy=del,target", 4),
    ("exit:2@at=2@id=own@fuse=2,target", 4),
]


@pytest.mark.covering("text", "joining")
@pytest.mark.parametrize(("text", "tokens"), SHARED)
@pytest.mark.parametrize("joining", [1, 8], ids=["prefilled", "along"])
def test_levels_over_one_model_may_join_late(
    text: str, tokens: int, joining: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "JOINING_ROWS", joining)
    made = LeanStacks(layers=4, vocab=2, seed=2)
    made.drafts = {
        "own": RandomDraft(made.target, layers=1, absent=()),
        "fed": RandomDraft(made.target, fed=True, layers=1, seed=1, absent=()),
    }
    chosen = replanner(text)
    found = run_distribution(made.stack(text), [1, 0], tokens, replan=chosen)
    assert distance(found, model_distribution(made.target, [1, 0], tokens)) < EXACT_FLOAT32
    assert len(chosen.seen) > 1, "the plan never changed"


@pytest.mark.parametrize("text", ["table:1,table", "table:2,table@rule=block", "table:1,table:2,table"])
def test_a_course_chosen_by_a_token_of_its_own_round_is_caught(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Hierarchy.pull

    def peeking(self: Hierarchy, i: int, context: Context, budget: int) -> Generator[Any, Any, Tree]:
        held = yield from real(self, i, context, budget)
        if held.ids and held.ids[0] == 0:  # "not a token for this level": it leaves the plan, and takes it along
            return NOTHING
        return held

    stack = toy_stack(text, 3, seed=11)
    exact = target_distribution(stack, [0], 3)
    assert distance(run_distribution(stack, [0], 3, replan=replanner(text)), exact) < EXACT
    monkeypatch.setattr(Hierarchy, "pull", peeking)
    assert distance(run_distribution(stack, [0], 3, replan=replanner(text)), exact) > WRONG


def test_a_course_changed_behind_a_drafted_token_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replanner that is asked within the round: whether a drafted token is judged at all depends on that token."""
    real, pull = Hierarchy.verify, Hierarchy.pull

    def asked_within(self: Hierarchy, i: int, context: Context, budget: int) -> Generator[Any, Any, Any]:
        if i == 2 and budget > 1:
            drafted = yield from pull(self, 0, context, budget - 1)
            if drafted.ids[0] == 0:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(Hierarchy, "pull", lambda self, i, context, budget: _given(drafted))
                    return (yield from real(self, i, context, budget))
            self.follow(RunPlan((2,), ()))  # "then rather without it"
        return (yield from real(self, i, context, budget))

    def choose(past: list[Round]) -> RunPlan:
        return RunPlan((0, 2), (1,))

    stack = toy_stack("table:1,table:1,table", 3, seed=11)
    exact = target_distribution(stack, [0], 2)
    assert distance(run_distribution(stack, [0], 2, replan=Chosen(choose)), exact) < EXACT
    monkeypatch.setattr(Hierarchy, "verify", asked_within)
    assert distance(run_distribution(stack, [0], 2, replan=Chosen(choose)), exact) > WRONG


def _given(tree: Tree) -> Generator[Any, Any, Tree]:
    yield from ()
    return tree


def test_the_engine_asks_only_between_rounds_and_tells_only_the_past() -> None:
    stack = toy_stack("table:2,table:2,table", 3, seed=3)
    told: list[Round] = []

    def choose(past: list[Round]) -> RunPlan:
        told[:] = past
        return RunPlan((0, 2), (2,)) if len(past) % 2 else RunPlan((0, 1, 2), (2, 2))

    events = list(hsd_core.run(stack, [0], SAMPLED, 3, max_new_tokens=20, replan=Chosen(choose)))
    commits = [e for e in events if e.event == "commit"]
    assert [r.index for r in told] == [c.round for c in commits[:-1]]
    assert [r.committed for r in told] == [tuple(t.id for t in c.tokens) for c in commits[:-1]]
    for event, before in zip(events[1:], events, strict=False):
        if event.event == "plan":
            assert before.event in ("kv", "report", "prefill", "header"), "a plan in the middle of a round"
