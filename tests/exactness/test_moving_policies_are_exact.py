"""Policies that remember how earlier blocks fared: the distribution of whole runs, every branch enumerated in float64.

The threshold takes large steps here, so that it decides something within the few tokens that can be enumerated.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import notes_of
import pytest
from cases import ENDS, in_turn
from covering import seeds
from enumerator import SAMPLED, distance, merged_distribution, run_distribution, target_distribution
from toys import random_stack, toy_stack

from hsd_core import run
from hsd_core.core import hierarchy
from hsd_core.grammar import policies
from hsd_core.models.sampling import Sampling
from hsd_core.systems.skip.declaration import Adaptive

EXACT = 1e-12
QUICK = partial(Adaptive, step=0.4, keep=0.0)

STACKS = [
    # stack, vocabulary, tokens
    ("table:3@policy=adaptive,table", 3, 4),
    ("table:3@policy=adaptive@theta=0.2,table@rule=block", 3, 4),
    ("table:2@policy=adaptive,table@rule=block@bonus=0", 3, 4),
    ("ngram:3@policy=adaptive,table", 3, 4),
    ("table:2@policy=adaptive,table:3,table", 2, 4),
    ("table:2,table:3@policy=adaptive,table@rule=block", 2, 5),
    ("table:2@policy=adaptive,table:3@policy=adaptive@theta=0.8@rule=block,table@rule=block", 2, 4),
    ("table:2@policy=adaptive@bonus=0,table:2@policy=adaptive@bonus=0,table@bonus=0@rule=block", 2, 4),
    ("table:1,table:2@policy=adaptive,table:3@policy=adaptive,table@rule=block", 2, 4),
    ("table:2@policy=adaptive,table:1@rule=block,table:2@policy=flush,table", 2, 4),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    real = hierarchy.policy_of
    quick = replace(policies()["adaptive"], make=QUICK)
    monkeypatch.setattr(hierarchy, "policy_of", lambda spec: quick if spec.policy == "adaptive" else real(spec))


@in_turn("text, vocab, tokens, ends", STACKS, ENDS)
def test_output_follows_the_targets_distribution(text: str, vocab: int, tokens: int, ends: frozenset[int]) -> None:
    stack = toy_stack(text, vocab, seed=7)
    found = merged_distribution(stack, [0], tokens, ends=ends)
    assert distance(found, target_distribution(stack, [0], tokens, ends=ends)) < EXACT


@pytest.mark.parametrize("text", ["table:2@policy=adaptive,table", "table:1,table:2@policy=adaptive,table@rule=block"])
def test_whole_runs_have_the_distribution_of_joined_paths(text: str) -> None:
    stack = toy_stack(text, 2, seed=3)
    whole = run_distribution(stack, [1, 0], 4)
    assert distance(whole, target_distribution(stack, [1, 0], 4)) < EXACT
    assert distance(whole, merged_distribution(stack, [1, 0], 4)) < EXACT


@pytest.mark.parametrize("seed", seeds(30, always=12))
def test_random_stacks_follow_the_targets_distribution(seed: int) -> None:
    rng = random.Random(5000 + seed)
    text = random_stack(rng, deepest=3)
    for other in ("fixed", "flush", "confidence", "margin"):
        text = text.replace(f"@policy={other}", f"@policy={rng.choice(('adaptive', 'adaptive', other))}")
    options = {"sampling": rng.choice((SAMPLED, Sampling(0.7, top_k=2), Sampling(0.0)))}
    stack = toy_stack(text, 2, seed)
    found = merged_distribution(stack, [0], 4, **options)
    assert distance(found, target_distribution(stack, [0], 4, **options)) < EXACT, text


def test_the_threshold_moves_within_these_runs_and_decides_block_lengths() -> None:
    def lengths(policy: str, seed: int) -> list[int]:
        stack = toy_stack(f"table:3@policy={policy}@theta=0.5,table", 3, seed=7)
        events = list(run(stack, [0], SAMPLED, seed, max_new_tokens=8))
        moves.update(notes_of.theta(e) for e in events if e.event == "draft")
        return [len(e.ids) for e in events if e.event == "draft"]

    moves: set[float | None] = set()
    differ = sum(lengths("adaptive", seed) != lengths("confidence", seed) for seed in range(40))
    assert differ > 10
    assert None in moves and len(moves) > 3


def test_the_threshold_of_every_level_that_has_a_moving_one_is_in_the_trace() -> None:
    text = "table:2@policy=adaptive@theta=0.5,table:3@policy=adaptive@theta=0.3,table"
    events = list(run(toy_stack(text, 3, seed=1), [0], SAMPLED, 0, max_new_tokens=30))
    assert [level.theta for level in events[0].levels] == [0.5, 0.3, None]
    first = {e.level: notes_of.theta(e) for e in reversed(events) if e.event in ("draft", "verify")}
    assert first == {0: 0.5, 1: 0.3, 2: None}
    for level in (0, 1):
        assert len({notes_of.theta(e) for e in events if e.event in ("draft", "verify") and e.level == level}) > 1
