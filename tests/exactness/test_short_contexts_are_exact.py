"""Levels whose context is shorter than the text: they rest from there on, and the distribution is the target's."""

from __future__ import annotations

import pytest
from enumerator import distance, run_distribution, target_distribution
from toys import toy_stack

from hsd_core.models.sampling import Sampling


@pytest.mark.parametrize(
    ("text", "contexts"),
    [
        ("table:2,table", {0: 3}),
        ("table:2,table@rule=block", {0: 4}),
        ("table:2,table:3@rule=block,table", {0: 3}),
        ("table:2,table:2,table@rule=block", {1: 3}),
        ("table:2,table:3,table", {0: 4, 1: 3}),
        ("table:2@tree=2.1,table", {0: 3}),
        ("table:2,table@with=pearl", {0: 3}),
        ("table:2,table:2,table@with=ahead", {1: 3}),
    ],
)
@pytest.mark.parametrize("sampling", [Sampling(1.0), Sampling(0.0)], ids=["sampled", "greedy"])
def test_a_draft_that_stops_leaves_the_targets_distribution(
    text: str, contexts: dict[int, int], sampling: Sampling
) -> None:
    stack = toy_stack(text, 2, seed=3)
    for i, most in contexts.items():
        stack[i].level.max_positions = most
    found = run_distribution(stack, [0], 4, sampling=sampling)
    assert distance(found, target_distribution(stack, [0], 4, sampling=sampling)) < 1e-12
