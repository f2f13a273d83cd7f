from __future__ import annotations

import math

import pytest
import torch

from hsd_core.core.policies import Confidence, DraftState, Fixed, Flush, Margin
from hsd_core.grammar import LevelSpec, policies, policy_of, theta_of
from hsd_core.systems.skip.declaration import Adaptive


def held(length: int, *, block: int = 4, corrected: bool = False, sure: tuple[float, ...] = ()) -> DraftState:
    return DraftState(length, block, corrected, sure)


@pytest.mark.parametrize("name", list(policies()))
def test_every_policy_stops_at_the_block_length_and_beyond(name: str) -> None:
    policy = policies()[name].bind({})
    assert policy.stops(held(4))
    assert policy.stops(held(6))
    assert not policy.stops(held(0 if name == "os3" else 3))  # OS3 begins with one token


@pytest.mark.parametrize("name", list(policies()))
def test_every_run_gets_a_policy_of_its_own(name: str) -> None:
    one, other = (policies()[name].bind({"theta": 0.5}) for _ in range(2))
    assert one == other and one is not other
    for _ in range(20):
        one.on_verified(4, 0, 4)
    assert other == policies()[name].bind({"theta": 0.5})
    assert (one != other) == (name in {"adaptive", "os3"})


def test_fixed_goes_on_after_a_correction_and_a_doubtful_token() -> None:
    assert not Fixed().stops(held(1, corrected=True, sure=(0.1,)))


def test_flush_stops_at_a_correction() -> None:
    assert Flush().stops(held(1, corrected=True))
    assert not Flush().stops(held(1, sure=(0.1,)))


@pytest.mark.parametrize("kind", [Confidence, Margin, Adaptive])
def test_a_threshold_stops_after_a_token_whose_row_was_below_it(kind: type[Confidence]) -> None:
    assert kind(0.6).stops(held(2, sure=(0.9, 0.59)))
    assert kind(0.6).stops(held(2, sure=(0.59, 0.9)))
    assert not kind(0.6).stops(held(2, sure=(0.9, 0.6)))


@pytest.mark.parametrize("kind", [Confidence, Margin, Adaptive])
def test_a_threshold_knows_no_doubt_of_a_drafter_without_a_distribution(kind: type[Confidence]) -> None:
    assert not kind(1.0).stops(held(2))
    assert not kind(1.0).stops(held(0))


def test_policies_read_of_a_row_its_top_probability_or_how_far_its_two_best_lie_apart_or_nothing() -> None:
    dists = torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [0.0, 0.0, 1.0]])
    for logits in (dists.log(), dists.log() + 7.0):  # logits are distributions up to a constant
        assert Margin(0.1).sure(logits) == pytest.approx([math.log(2.0), 0.0, math.inf], abs=1e-6)
        for kind in (Confidence, Adaptive):
            assert kind(0.1).sure(logits) == pytest.approx([0.6, 0.4, 1.0])
        assert Fixed().sure(logits) == Flush().sure(logits) == ()


def test_a_level_without_a_theta_has_its_policys_own() -> None:
    usual = {"confidence": 0.6, "margin": 0.15, "adaptive": 0.6}
    for name in policies():
        level = LevelSpec("int8", values={"policy": name})
        assert policy_of(level) is policies()[name]
        assert theta_of(level) == usual.get(name)
        if name in usual:
            assert policies()[name].bind(level.values) == policies()[name].make(usual[name])
            assert policies()[name].bind(level.having(theta=0.3).values) == policies()[name].make(0.3)


def test_adaptive_follows_the_formula_of_draft_and_verify() -> None:
    policy = Adaptive(0.6)
    policy.on_verified(4, 1, 8)  # m = .5 + .125 = 0.625 < .9: th' = .61
    assert policy.match == pytest.approx(0.625)
    assert policy.theta == pytest.approx(0.9 * 0.6 + 0.1 * 0.61)
    policy.match = 1.0
    before = policy.theta
    policy.on_verified(4, 4, 8)  # m = 1 >= .9 and fewer than T: th' = th - .01
    assert policy.theta == pytest.approx(0.9 * before + 0.1 * (before - 0.01))
    assert policy.moving == policy.theta


def test_adaptive_does_not_lower_its_threshold_where_the_block_length_was_the_limit() -> None:
    policy = Adaptive(0.6)
    policy.on_verified(8, 8, 8)
    assert policy.theta == 0.6
    policy.on_verified(9, 0, 8)
    assert policy.theta > 0.6


def test_adaptive_settles_where_blocks_are_accepted_as_wanted() -> None:
    # A drafter that is right as often as it is sure: the threshold that gives a match of 0.9 is near 0.9.
    policy = Adaptive(0.2, step=0.05)
    for _ in range(3000):
        policy.on_verified(10, round(10 * min(1.0, policy.theta + 0.001)), 20)
    assert policy.theta == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize(("accepted", "end"), [(0, 1.0), (3, 0.0)])
def test_adaptive_stays_a_probability(accepted: int, end: float) -> None:
    policy = Adaptive(0.5, step=0.5)
    for _ in range(200):
        policy.on_verified(3, accepted, 8)
    assert policy.theta == end
