"""The theory of levels that work at the same time, against the engine on a simulated clock."""

from __future__ import annotations

import pytest
import torch
from timed import timed_stack

import hsd_core
from hsd_core.cli import main
from hsd_core.lab.whatif.playing import play
from hsd_core.levels.kinds import StackError
from hsd_core.models.sampling import Sampling
from hsd_core.theory import Costs, Profile, ProfileError, ProfileLevel, StackPlan, expected
from hsd_core.theory.latency.lock_step import expected_in_lock_step, overlapping_pays, tokens_per_step
from hsd_core.trace import metrics
from hsd_core.trace.checks import check

TOKENS = 2000


def evenly(order: int) -> list[int]:
    """A de Bruijn sequence of two symbols: every word of `order` bits comes once."""
    found, word = list[int](), [0] * (2 * order)

    def grow(t: int, p: int) -> None:
        if t > order:
            if order % p == 0:
                found.extend(word[1 : p + 1])
            return
        word[t] = word[t - p]
        grow(t + 1, p)
        for bit in range(word[t - p] + 1, 2):
            word[t] = bit
            grow(t + 1, t)

    grow(1, 1)
    return found


def agreements(a: float) -> list[bool]:
    """Whether a drafter is right at each place: a half or three quarters of the time, every pattern as often."""
    bits = evenly(11)
    twice = [*bits, *bits[1:], bits[0]]  # so that pairs begin at every place
    return [bit == 1 for bit in bits] if a == 0.5 else [any(pair) for pair in zip(twice[::2], twice[1::2], strict=True)]


def profile(a: float, draft: float, verify: float) -> Profile:
    levels = (ProfileLevel("d", Costs.constant(draft), draft_ms=draft), ProfileLevel("t", Costs.constant(verify)))
    return Profile(levels=levels, acceptance=((1.0, a), (0.0, 1.0)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "block", "draft", "verify"), [(0.5, 1, 3, 10), (0.5, 3, 3, 10), (0.75, 2, 7, 10), (0.75, 5, 2, 8)]
)
def test_the_formula_is_what_the_engine_takes(a: float, block: int, draft: int, verify: int) -> None:
    right = agreements(a)

    def target(prefix: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor([1.0, 0.0], dtype=torch.float64)

    def drafter(prefix: tuple[int, ...]) -> torch.Tensor:
        kept = float(right[len(prefix) % len(right)])
        return torch.tensor([kept, 1.0 - kept], dtype=torch.float64)

    stack, clock = timed_stack(
        f"table:{block},table@with=pearl", 2, lambda level, ids: (draft, verify)[level] * 1_000_000
    )
    stack[0].level.table, stack[1].level.table = drafter, target  # type: ignore[attr-defined]
    events = list(hsd_core.run(stack, [0], Sampling(0.0), 0, max_new_tokens=TOKENS, heads=0, clock=clock))
    took = metrics.measure(events)["decode_ms"] / TOKENS
    plan = StackPlan((0, 1), (block,))
    assert took == pytest.approx(expected_in_lock_step(profile(a, draft, verify), plan), rel=0.02)


def test_the_bounds_of_the_paper() -> None:
    assert tokens_per_step(1.0, 4) == 4
    assert tokens_per_step(0.6, 1) == pytest.approx(1.0)
    assert tokens_per_step(0.6, 60) == pytest.approx(1 / (1 - 0.36), rel=1e-6)


def test_overlapping_loses_where_a_draft_costs_little() -> None:
    plan = StackPlan((0, 1), (5,))
    assert not overlapping_pays(profile(0.6, 0.05, 1.0), StackPlan((0, 1), (20,)))
    assert overlapping_pays(profile(0.9, 0.2, 1.0), plan)
    assert not overlapping_pays(profile(0.1, 0.2, 1.0), StackPlan((0, 1), (10,))), "the target alone is quicker"


def test_what_cannot_overlap_has_no_price() -> None:
    with pytest.raises(ProfileError, match="add a level"):
        expected_in_lock_step(profile(0.6, 0.2, 1.0), StackPlan((1,), ()))


def test_a_simulated_run_says_whose_clock_it_is() -> None:
    of, plan = profile(0.7, 3.0, 10.0), StackPlan((0, 1), (3,))
    events = list(play(of, plan, max_new_tokens=150, schedule="pearl"))
    assert check(events) == []
    header = metrics.header_of(events)
    assert (header.overlap, header.stack) == ("simulated", "model:3@id=d,target@with=pearl@id=t")
    assert metrics.measure(events)["decode_ms"] / 150 == pytest.approx(expected_in_lock_step(of, plan), rel=0.15)
    assert expected(of, plan).ms_per_token > expected_in_lock_step(of, plan)
    with pytest.raises(StackError, match="verifies nothing"):
        list(play(of, StackPlan((1,), ()), max_new_tokens=20, schedule="pearl"))


def test_the_command_says_what_was_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "--with", "pearl", "--max-new-tokens", "40"]) == 0
    said = capsys.readouterr()
    assert "expected by the theory" in said.out + said.err
