"""Exits climbed through for every token (AdaDecode), enumerated: over tables in float64, and over a random model with
its trunk, caches and rollbacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from enumerator import SAMPLED, distance, merged_distribution, run_distribution, target_distribution
from lean_stacks import LeanStacks, RandomDraft, model_distribution
from torch import Tensor
from toys import table, toy_stack

import hsd_core
from hsd_core.core.level import StackEntry, Work
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling, softmax
from hsd_core.systems.exits.climb import ClimbRun
from hsd_core.systems.table.table_level import TableLevel, TableRun

EXACT = 1e-12
TRUNK = 1e-5  # the model computes in float32
WRONG = 1e-3
VOCAB = 3


class TableHead(TableRun):
    """A head that reads every position, a function of the prefix."""

    remembers = True

    def __init__(self, seed: int) -> None:
        super().__init__(table(VOCAB, seed), f"head {seed}")
        self.source = self._source

    def reach(self, context: Sequence[int]) -> tuple[Tensor, Work]:
        if self.cached == len(context):  # it was not sure here, and nothing was added since
            self.keep(len(context) - 1, ())
        return self.score(context)


class ClimbTables(TableLevel):
    can_verify = False

    def __init__(self, seeds: Sequence[int], theta: float) -> None:
        super().__init__(table(VOCAB, 0), VOCAB, name="climb")
        self.seeds, self.theta = seeds, theta

    def open(self, capacity: int, shared: object) -> ClimbRun:
        return ClimbRun([TableHead(seed) for seed in self.seeds], self.theta)


def climbing(text: str, theta: float, seed: int = 11, heads: int = 2) -> list[StackEntry]:
    """`table` at the bottom stands for a climb over so many tables."""
    bottom, *above = toy_stack(text, VOCAB, seed)
    level: Any = ClimbTables([900 + 10 * seed + i for i in range(heads)], theta)
    return [StackEntry(level, bottom.spec, bottom.block), *above]


def off_by(
    text: str, theta: float = 0.6, *, whole: bool = False, tokens: int = 4, seed: int = 7, **options: Any
) -> float:
    stack = climbing(text, theta, seed, **options)
    found = (run_distribution if whole else merged_distribution)(stack, [0], tokens)
    return distance(found, target_distribution(stack, [0], tokens))


STACKS = [
    "table:3,table",
    "table:2,table@bonus=0",
    "table:3,table@rule=block",
    "table:2,table:2,table",
    "table:2,table:3@rule=block,table@rule=block",
    "table:2,table:2@bonus=0,table",
    "table:2,table:2@policy=flush,table:3,table",
]


@pytest.mark.covering("text", "theta")
@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("theta", [0.5, 0.75])
def test_over_tables(text: str, theta: float) -> None:
    assert off_by(text, theta) < EXACT


@pytest.mark.parametrize("text", STACKS[:2])
def test_whole_runs_over_tables(text: str) -> None:
    assert off_by(text, whole=True, tokens=3) < EXACT


def test_three_heads_and_one() -> None:
    assert off_by(STACKS[0], 0.7, heads=3) < EXACT
    assert off_by(STACKS[0], 0.7, heads=1) < EXACT
    assert off_by(STACKS[0], 0.0, heads=1) < EXACT, "always sure: an ordinary drafter"
    assert off_by(STACKS[0], 1.0) < EXACT, "never sure: the target alone"


def sources(theta: float) -> set[str]:
    events = list(hsd_core.run(climbing("table:3,table", theta), [0], SAMPLED, 5, max_new_tokens=40, heads=0))
    return {source for e in events if e.event == "draft" for source in e.sources} | {
        "none" for e in events if e.event == "draft" and not e.ids
    }


def test_tokens_come_from_the_first_head_that_is_sure() -> None:
    assert sources(0.6) == {"head 1010", "head 1011", "none"}
    assert (sources(0.0), sources(1.0)) == ({"head 1010"}, {"none"})


def by_its_own_chance(self: ClimbRun, line: Any) -> Any:
    """The wrong engine: a token is drawn at every head, and kept at the first where it is itself likely."""
    for exit_ in self.exits:
        logits, _ = exit_.reach(line)
        q = softmax(logits)[0]
        token = self.order.sampler.pick(q, len(line), 1 + self.exits.index(exit_))
        if float(q[token]) >= self.theta:
            self.taken = token
            return (exit_, logits), ()
    return None, ()


@pytest.mark.parametrize(
    ("text", "tokens"), [("table:1,table", 2), ("table:2,table@rule=block", 2), ("table:1,table:1,table", 3)]
)
def test_asking_the_token_s_own_probability_is_caught(text: str, tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ClimbRun.propose

    def watched(self: ClimbRun, context: Any, order: Any) -> Any:
        self.order = order
        return real(self, context, order)

    def taken(self: ClimbRun, logits: Tensor, order: Any, place: int, rows: list[Tensor]) -> int:
        rows.append(order.sampler.to_probs(logits)[0])
        return self.taken

    assert off_by(text, 0.4, whole=True, tokens=tokens) < EXACT
    monkeypatch.setattr(ClimbRun, "propose", watched)
    monkeypatch.setattr(ClimbRun, "_climb", by_its_own_chance)
    monkeypatch.setattr(ClimbRun, "_drawn", taken)
    assert off_by(text, 0.4, whole=True, tokens=tokens) > WRONG


def trunk_stacks(vocab: int, trained: bool) -> LeanStacks:
    """Five layers. trained: exit 1 has layers of its own, which read every position; else all are read by the model's
    own head."""
    made = LeanStacks(layers=5, vocab=vocab, seed=5)
    if trained:
        made.drafts = {f"at{at}": RandomDraft(made.target, seed=at, absent=()) for at in (1, 2)}
    return made


OVER_A_MODEL = [
    # stack, tokens, vocabulary
    ("climb:2@at=1-3@theta=0.5,target", 2, 3),
    ("climb:3@at=1-2-4@theta=0.6,target@rule=block", 3, 2),
    ("climb:2@at=2-3@theta=0.7,target@bonus=0", 3, 2),
    ("climb:2@at=1-2@theta=0.6,int8:2@policy=flush,target", 2, 2),
    ("climb:2@at=1-2@theta=0.6@dtype=int8,int8:2,target@rule=block", 2, 2),
    ("climb:1@at=1-2@theta=0.6,exit:2@at=4@bonus=0,target", 2, 2),
]


@pytest.mark.covering("text", "trained")
@pytest.mark.parametrize(("text", "tokens", "vocab"), OVER_A_MODEL)
@pytest.mark.parametrize("trained", [True, False])
def test_over_one_trunk(text: str, tokens: int, vocab: int, trained: bool) -> None:
    made, prompt = trunk_stacks(vocab, trained), [1, 0]
    found = run_distribution(made.stack(text), prompt, tokens)
    assert distance(found, model_distribution(made.target, prompt, tokens)) < TRUNK


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_p=0.8), Sampling(0.0)])
def test_cut_distributions_too(sampling: Sampling) -> None:
    made, prompt = trunk_stacks(3, trained=True), [1, 0]
    found = run_distribution(made.stack(OVER_A_MODEL[0][0]), prompt, 2, sampling=sampling)
    assert distance(found, model_distribution(made.target, prompt, 2, sampling)) < TRUNK


def test_the_stack_is_said_to_be_exact() -> None:
    assert hsd_core.stack_lossless(parse(OVER_A_MODEL[0][0]), SAMPLED)


def test_tables_and_model_are_seen_to_differ() -> None:
    made = trunk_stacks(3, trained=False)
    with torch.inference_mode():
        x = made.target.forward_layers(hsd_core.models.one_pass.Pass([1, 0]), made.target.new_cache(2), 0, 1)
        early = softmax(made.target.head(x[-1:]))[0]
    true = model_distribution(made.target, [1, 0], 1)
    assert sum(abs(float(p) - true.get((i,), 0.0)) for i, p in enumerate(early)) > 0.1
