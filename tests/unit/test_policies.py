from __future__ import annotations

import pytest

from hsd_core.policies import DEFAULT_THETA, POLICIES, Held, confidence, fixed, flush


def held(length: int, *, block: int = 4, corrected: bool = False, sure: tuple[float | None, ...] = ()) -> Held:
    return Held(length, block, corrected, sure)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_every_policy_stops_at_the_block_length_and_beyond(policy: str) -> None:
    assert POLICIES[policy](held(4), DEFAULT_THETA)
    assert POLICIES[policy](held(6), DEFAULT_THETA)
    assert not POLICIES[policy](held(3), DEFAULT_THETA)


def test_fixed_goes_on_after_a_correction_and_a_doubtful_token() -> None:
    assert not fixed(held(1, corrected=True, sure=(0.1,)), DEFAULT_THETA)


def test_flush_stops_at_a_correction() -> None:
    assert flush(held(1, corrected=True), DEFAULT_THETA)
    assert not flush(held(1, sure=(0.1,)), DEFAULT_THETA)


def test_confidence_stops_after_a_token_whose_row_was_below_theta() -> None:
    assert confidence(held(2, sure=(0.9, 0.59)), 0.6)
    assert confidence(held(2, sure=(0.59, 0.9)), 0.6)
    assert not confidence(held(2, sure=(0.9, 0.6)), 0.6)


def test_confidence_knows_no_doubt_of_a_drafter_without_a_distribution() -> None:
    assert not confidence(held(2, sure=(None, None)), 1.0)
    assert not confidence(held(0), 1.0)
