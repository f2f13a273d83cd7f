"""The rule top (HiSpec's TopPredictions): what it accepts, and when a stack that uses it is exact."""

from __future__ import annotations

import pytest
import torch
from enumerator import SAMPLED, distance, every_path, merged_distribution, run_distribution, target_distribution
from toys import drawn, toy_stack

import hsd_core
from hsd_core.core.rules import greedy
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.models.sampling import Sampling
from hsd_core.systems.exits.exit_level import top

GREEDY = Sampling(0.0)
EXACT = 1e-12
WRONG = 1e-3
P = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]], dtype=torch.float64)


def verdict(draft: list[int], k: int, bonus: bool = True):
    return [v for _, v in every_path(lambda choices: top(drawn(draft, P), P, choices, bonus, k=k))]


def test_a_token_among_the_k_likeliest_is_accepted() -> None:
    assert {v.accepted for v in verdict([0, 2], 1)} == {2}
    assert {v.accepted for v in verdict([1, 2], 1)} == {0}
    assert {v.accepted for v in verdict([1, 1], 2)} == {2}
    assert {v.accepted for v in verdict([1, 0], 2)} == {1}
    assert verdict([1, 0], 2)[0].alphas == (1.0, 0.0)
    assert {v.accepted for v in verdict([2, 0], 99)} == {2}


def test_what_follows_a_mismatch_is_drawn_from_the_verifiers_distribution() -> None:
    dist = {}
    for mass, v in every_path(lambda choices: top(drawn([2], P), P, choices, True)):
        dist[v.token] = dist.get(v.token, 0.0) + mass
    assert dist == pytest.approx({0: 0.5, 1: 0.3, 2: 0.2})
    assert [v.token for v in verdict([0, 2], 1)] == [1], "the bonus"
    assert [v.token for v in verdict([0, 2], 1, bonus=False)] == [None]
    assert {v.token for v in verdict([], 1, bonus=False)} == {0, 1, 2}


def test_the_residual_of_a_reject_is_the_row_behind_what_was_kept() -> None:
    """It stands on the correction's card: after one kept token it is the second row, not the first."""
    for k, draft, kept in ((1, [2], 0), (1, [0, 1], 1), (2, [1, 0, 0], 1)):
        (residual,) = {tuple(v.residual.tolist()) for v in verdict(draft, k) if v.residual is not None}
        assert residual == tuple(P[kept].tolist())


def test_with_k_1_at_temperature_0_it_is_greedy() -> None:
    hot = torch.eye(3, dtype=torch.float64)[[2, 0, 1]]
    for draft in ([2, 0], [2, 1], [0, 0], [], [2]):
        for bonus in (True, False):
            mine = [v for _, v in every_path(lambda c, d=draft, b=bonus: top(drawn(d, hot), hot, c, b))]
            true = greedy(drawn(draft, hot), hot, None, bonus)  # type: ignore[arg-type]
            assert [(v.accepted, v.token, v.alphas) for v in mine] == [(true.accepted, true.token, true.alphas)]


def test_in_a_greedy_run_a_level_below_the_target_still_knows_its_second_choice() -> None:
    """Its distribution at temperature 0 has one token; what ranks the others is its raw row, which the trace shows."""
    events = hsd_core.run(
        toy_stack("table:3,table:4@rule=top@k=2,table", 6, seed=4), [0], GREEDY, 3, max_new_tokens=60, heads=2
    )
    ranked = [
        ([*c.p_row.ids].index(c.id) if c.id in c.p_row.ids else None, c.alpha)
        for event in events
        if event.event == "verify" and event.level == 1
        for c in event.checks
        if c.outcome != "unjudged"
    ]
    assert {alpha for place, alpha in ranked if place is not None} == {1.0}
    assert {alpha for place, alpha in ranked if place is None} == {0.0}
    assert sum(place == 1 for place, _ in ranked) > 3, "no second choice was offered"


@pytest.mark.parametrize(
    ("text", "sampling", "exact"),
    [
        ("table:2,table@rule=top", GREEDY, True),
        ("table:2,table@rule=top@k=2", GREEDY, False),
        ("table:2,table:3@rule=top@k=2,table", GREEDY, True),
        ("table:2,table:3@rule=top@k=3,table@rule=block", GREEDY, True),
        ("table:2,table:3@rule=top@k=2,table@rule=greedy", GREEDY, True),
        ("table:2,table:3@rule=top@k=2,table@rule=top", GREEDY, True),
        ("table:2,table@rule=top", SAMPLED, False),
        ("table:2,table@rule=top@k=2", SAMPLED, False),
        ("table:2,table:3@rule=top,table", SAMPLED, False),
    ],
)
def test_stack_lossless_says_what_enumeration_finds(text: str, sampling: Sampling, exact: bool) -> None:
    said, reason = stack_lossless(parse(text), sampling)
    assert (said, "top" in reason) == (exact, not exact)
    worst = 0.0
    for seed in range(12):
        stack = toy_stack(text, 3, seed)
        found = (
            run_distribution(stack, [0], 6, sampling=sampling)
            if sampling.greedy
            else merged_distribution(stack, [0], 3)
        )
        tokens = 6 if sampling.greedy else 3
        worst = max(worst, distance(found, target_distribution(stack, [0], tokens, sampling)))
    assert worst < EXACT if exact else worst > WRONG
