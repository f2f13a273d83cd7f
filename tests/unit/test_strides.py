"""OS3: how many steps one query of a store is asked for."""

from __future__ import annotations

import random

import pytest
from enumerator import distance, run_distribution, target_distribution
from toys import toy_stack

from hsd_core.core.policies import DraftState
from hsd_core.systems.store.strides import MOST, Os3, best_stride, gamma_of, round_ms, steps_kept


def test_asked_meanwhile_one_step_at_a_time_gains_a_third_at_most() -> None:
    """The figure of a step of 49 ms and a query of 30 at the most that gamma is taken for."""
    assert (49 + 30) / round_ms(MOST, 1, 49, 30, at_once=True) == pytest.approx(1.30, abs=0.005)


@pytest.mark.parametrize(("step", "query"), [(49.0, 30.0), (49.0, 32.0), (10.0, 1.0), (3.0, 2.0)])
def test_one_after_another_a_cheap_query_is_asked_at_every_step(step: float, query: float) -> None:
    assert query <= 2 / 3 * step and best_stride(MOST, step, query) == 1


@pytest.mark.parametrize("gamma", [0.2, 0.45, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("query", [0.1, 0.5, 1.0, 4.0])
def test_a_longer_stride_pays_above_the_share_of_a_step(gamma: float, query: float) -> None:
    assert (best_stride(gamma, 1.0, query) == 1) == (gamma <= 1.0 / (1.0 + query))


@pytest.mark.parametrize(("gamma", "stride"), [(0.3, 1), (0.6, 3), (0.9, 8), (1.0, 4)])
def test_the_formula_is_what_happens(gamma: float, stride: int) -> None:
    rng, step, query = random.Random(0), 5.0, 7.0
    steps = ms = at_once = 0.0
    for _ in range(40_000):
        right = next((i for i in range(stride) if rng.random() >= gamma), stride)
        steps += min(right + 1, stride)  # behind a wrong step the store's answer stands
        ms += stride * step + query
        at_once += (stride - 1) * step + max(step, query) if right == stride else stride * step + query
    assert steps / 40_000 == pytest.approx(steps_kept(gamma, stride), rel=0.02)
    assert ms / 40_000 == pytest.approx(round_ms(gamma, stride, step, query))
    assert at_once / 40_000 == pytest.approx(round_ms(gamma, stride, step, query, at_once=True), rel=0.02)


def test_gamma_is_what_was_kept_beside_the_rounds_that_were_cut() -> None:
    assert gamma_of([]) == 0.0
    assert gamma_of([(3, 1), (3, 0)]) == pytest.approx(1 / 3)
    assert gamma_of([(1, 0), (2, 1), (1, 0)]) == pytest.approx(1 / 4)
    assert gamma_of([(1, 0), (1, 1), (1, 0)]) == pytest.approx(1 / 3), "a round that was kept whole was not cut"
    assert gamma_of([(3, 3), (3, 3)]) == MOST


def test_the_policy_begins_with_one_and_goes_on_as_its_rounds_do() -> None:
    policy = Os3(ask=4.0)
    assert policy.stops(DraftState(1, 8, False, ()))
    for _ in range(5):
        policy.on_verified(1, 1, 8)
    assert not policy.stops(DraftState(1, 8, False, ()))
    assert policy.stops(DraftState(best_stride(MOST, 1.0, 4.0), 8, False, ()))
    for _ in range(5):
        policy.on_verified(3, 0, 8)
    assert policy.stops(DraftState(1, 8, False, ()))


@pytest.mark.parametrize("text", ["table:3@policy=os3@ask=1,table", "table:3@policy=os3@ask=1,table@rule=block"])
def test_it_is_exact(text: str) -> None:
    stack = toy_stack(text, 2, seed=4)
    assert distance(run_distribution(stack, [0], 5), target_distribution(stack, [0], 5)) < 1e-12
