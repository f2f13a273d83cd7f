"""The theory of levels that work at the same time: against published figures, the processes themselves, and the engine
on a simulated clock."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from timed import timed_stack

import hsd_core
from hsd_core.cli import main
from hsd_core.grammar import StackError
from hsd_core.measure.whatif.simulation import play
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.closed_forms import (
    AGREEMENTS,
    SHARES,
    card_tokens_per_step,
    duo_tokens_per_step,
    gain,
    gains,
    pays_between,
    tokens_per_step,
)
from hsd_core.theory import Costs, Profile, ProfileError, ProfileLevel, StackPlan, expected, read_profile
from hsd_core.theory.latency.plans import plan_of
from hsd_core.theory.overlap.below import Below
from hsd_core.theory.overlap.on_two_lanes import (
    OnTwoLanes,
    expected_on_lanes,
    needs_target,
    on_two_lanes_of,
    text_on_two_lanes,
)
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.conventions import clock_of, lanes_of

TOKENS = 2048  # a whole period of what a drafter gets right
PROFILE = Path(__file__).resolve().parents[2] / "assets" / "profiles" / "smollm2-cpu.json"
STEPS = 40_000  # of a process that is drawn


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


def ms_of(of: Profile, plan: StackPlan, schedule: str = "pearl", **keys: int) -> float:
    return expected_on_lanes(of, OnTwoLanes(plan, schedule, tuple(keys.items()))).ms_per_token


@pytest.mark.covering
@pytest.mark.parametrize("a", [0.0, 0.3, 0.75, 0.97, 1.0])
@pytest.mark.parametrize("block", [1, 2, 5])
@pytest.mark.parametrize(("draft", "verify"), [(1.0, 10.0), (4.0, 10.0), (9.0, 10.0)])
def test_what_is_walked_is_the_closed_form(a: float, block: int, draft: float, verify: float) -> None:
    step = max(block * draft, verify)
    walked = ms_of(profile(a, draft, verify), StackPlan((0, 1), (block,)))
    assert walked == pytest.approx(step / tokens_per_step(a, block), rel=1e-3)


@pytest.mark.covering
@pytest.mark.parametrize(
    ("a", "block", "draft", "verify"), [(0.5, 1, 3, 10), (0.5, 3, 3, 10), (0.75, 2, 7, 10), (0.5, 5, 2, 8)]
)
@pytest.mark.parametrize("schedule", ["pearl", "ahead", "ahead@ahead=9@least=3"])
def test_the_theory_is_what_the_engine_takes(a: float, block: int, draft: int, verify: int, schedule: str) -> None:
    right = agreements(a)

    def target(prefix: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor([1.0, 0.0], dtype=torch.float64)

    def drafter(prefix: tuple[int, ...]) -> torch.Tensor:
        kept = float(right[len(prefix) % len(right)])
        return torch.tensor([kept, 1.0 - kept], dtype=torch.float64)

    stack, clock = timed_stack(
        f"table:{block},table@with={schedule}", 2, lambda level, ids: (draft, verify)[level] * 1_000_000
    )
    stack[0].level.table, stack[1].level.table = drafter, target  # type: ignore[attr-defined]
    events = list(hsd_core.run(stack, [0], Sampling(0.0), 0, max_new_tokens=TOKENS, heads=0, clock=clock))
    took = metrics.measure(events)["decode_ms"] / TOKENS
    keys = {"ahead": 9, "least": 3} if "least" in schedule else {}
    theory = ms_of(profile(a, draft, verify), StackPlan((0, 1), (block,)), schedule.split("@")[0], **keys)
    assert took == pytest.approx(theory, rel=0.02)


SIMULATED = {
    "lookups": "ngram:4,target",
    "a stack": "ngram:2,int8:5,target",
    "an exit, which shares no layers with the target there": "exit:2@at=4,target",
}


@pytest.mark.covering("schedule")
@pytest.mark.parametrize("schedule", ["pearl", "ahead"])
@pytest.mark.parametrize("stack", SIMULATED.values(), ids=SIMULATED)
def test_the_theory_is_what_the_simulated_clock_says(stack: str, schedule: str) -> None:
    of = read_profile(PROFILE)
    plan, tokens = plan_of(of, stack), 2000
    events = list(play(of, plan, max_new_tokens=tokens, plain=False, schedule=schedule))
    assert metrics.measure(events)["decode_ms"] / tokens == pytest.approx(ms_of(of, plan, schedule), rel=0.03)


def test_blocks_of_a_stack_take_in_the_mean_what_the_recursion_says() -> None:
    of = read_profile(PROFILE)
    for stack in ("ngram:2,int8:5,target", "nano:2,int4:4,target", "ngram:3,nano:3,int8:7,target"):
        plan = plan_of(of, stack)
        *parts, _ = expected(of, plan).levels
        tokens, ms = Below(of, plan).means(10_000)
        assert tokens == pytest.approx(sum(n * share for n, share in enumerate(parts[-1].block_lengths)), rel=1e-4)
        assert ms == pytest.approx(sum(part.ms_per_round for part in parts), rel=1e-4)
        blocks = Below(of, plan).blocks(3)
        assert sum(block.chance for block in blocks) == pytest.approx(1.0, abs=1e-5)
        assert max(block.tokens for block in blocks) <= 3, "no more than was asked for"


@pytest.mark.parametrize(
    ("a", "pays_from", "best"),
    [
        (0.4, 0.18, 1.13),
        (0.5, 0.16, 1.20),
        (0.6, 0.14, 1.21),
        (0.7, 0.115, 1.24),
        (0.8, 0.08, 1.28),
        (0.9, 0.04, 1.32),
        (0.95, 0.02, 1.34),
    ],
)
def test_where_overlapping_pays_and_how_much_at_most(a: float, pays_from: float, best: float) -> None:
    shares = [n / 200 for n in range(1, 201)]
    paying = [share for share in shares if gain(share, a) > 1.0]
    assert paying[0] == pytest.approx(pays_from, abs=0.006)
    assert max(gain(share, a) for share in shares) == pytest.approx(best, abs=0.01)
    found = pays_between(a)
    assert found is not None and paying[0] <= found[0] < paying[0] + 0.015, "half a percent of gain is none"


def test_a_cheap_draft_is_better_finished_first() -> None:
    found = [gain(0.05, a) for a in (0.4, 0.5, 0.6, 0.7, 0.8)]
    assert min(found) == pytest.approx(0.81, abs=0.005) and max(found) == pytest.approx(0.89, abs=0.005)
    assert gain(0.05, 0.9) == pytest.approx(1.06, abs=0.005)


def test_two_lanes_never_gain_more_than_both_at_work_all_the_time() -> None:
    assert all(value <= 2.0 for row in gains() for value in row)
    assert (len(gains()), len(gains()[0])) == (len(AGREEMENTS), len(SHARES))
    a, share = 4, 9
    assert gains()[a][share] == round(gain(SHARES[share], AGREEMENTS[a]), 4)


def test_the_bounds_of_the_paper() -> None:
    assert tokens_per_step(1.0, 4) == 4
    assert tokens_per_step(0.6, 1) == pytest.approx(1.0)
    assert tokens_per_step(0.6, 60) == pytest.approx(1 / (1 - 0.36), rel=1e-6)


def coins(seed: int) -> Iterator[float]:
    throws = random.Random(seed)
    while True:
        yield throws.random()


@pytest.mark.parametrize(("a", "hit", "block"), [(0.6, 0.6, 16), (0.6, 0.75, 8), (0.6, 0.82, 4), (0.85, 0.9, 3)])
def test_duo_s_formula_is_what_the_process_does(a: float, hit: float, block: int) -> None:
    throw, undecided, tokens = coins(1), 0, 0
    for _ in range(STEPS):
        kept = next((i for i in range(undecided) if next(throw) >= a), undecided)
        if kept < undecided:  # a token is corrected, what lies behind it falls
            tokens, undecided = tokens + kept + 1, 0
        else:  # the target's own token: one of the first ones that were drafted meanwhile, or not
            tokens, undecided = tokens + kept + 1, block - 1 if next(throw) < hit else 0
    assert duo_tokens_per_step(a, hit, block) == pytest.approx(tokens / STEPS, rel=0.02)


def test_more_beginnings_save_steps_and_shorten_the_sequences() -> None:
    assert (
        duo_tokens_per_step(0.6, 0.6, 16) == pytest.approx(tokens_per_step(0.6, 16)) == pytest.approx(1.56, abs=0.005)
    )
    assert duo_tokens_per_step(0.6, 0.75, 8) == pytest.approx(1.63, abs=0.005)
    assert duo_tokens_per_step(0.6, 0.82, 4) == pytest.approx(1.59, abs=0.005)


@pytest.mark.parametrize(("a", "hit", "depth"), [(0.6, 0.68, 3), (0.9, 0.5, 8), (1.0, 0.4, 5)])
def test_card_s_formula_is_what_the_process_does(a: float, hit: float, depth: int) -> None:
    throw, ready, tokens = coins(2), 0, 0
    for _ in range(
        STEPS
    ):  # the path that goes on from the target's last word is read; its next word roots the tree anew
        kept = next((i for i in range(ready) if next(throw) >= a), ready)
        tokens += kept + 1
        ready = depth if next(throw) < hit else 0
    assert card_tokens_per_step(a, hit, depth) == pytest.approx(tokens / STEPS, rel=0.02)


def test_a_stack_is_priced_with_its_schedule_and_its_keys() -> None:
    of = read_profile(PROFILE)
    assert on_two_lanes_of(of, "int8:4,target") is None
    for text in ("int8:4,target@with=pearl", "ngram:2,int8:5,target@with=ahead@ahead=12@least=2"):
        what = on_two_lanes_of(of, text)
        assert what is not None and text_on_two_lanes(of, what) == text
        assert what.plan == plan_of(of, text.split("@")[0])
        assert what.keys == ((("ahead", 12), ("least", 2)) if "least" in text else ())
    more = [ms_of(of, plan_of(of, "int8:2,target"), "pearl", ahead=n) for n in (2, 3, 4)]
    assert len({round(ms, 3) for ms in more}) == 3, "how far the drafter runs ahead counts"


def test_an_exit_computes_its_own_layers_again_beside_the_target() -> None:
    of = read_profile(PROFILE)
    plan = plan_of(of, "exit:2@at=4,target")
    assert (1, 6) not in of.edge_cost and any(pair[1] == of.target for pair in of.edge_cost)
    own = ms_of(Profile(of.levels, of.acceptance), plan)
    assert ms_of(of, plan) == own


def test_what_cannot_overlap_has_no_price() -> None:
    of = read_profile(PROFILE)
    with pytest.raises(ProfileError, match="add a level"):
        ms_of(profile(0.6, 0.2, 1.0), StackPlan((1,), ()))
    with pytest.raises(ProfileError, match="do not have what @with=sync"):
        ms_of(of, plan_of(of, "int8:4,target"), "sync")
    with pytest.raises(ProfileError, match="leave @with=pearl out"):
        plan_of(of, "int8:4,target@with=pearl")
    with pytest.raises(ProfileError, match="is not in this profile"):
        on_two_lanes_of(of, "model:4,target@with=pearl")


def test_a_draft_that_reads_the_target_s_states_cannot_run_apart() -> None:
    of = read_profile(PROFILE)
    names = {name: of.index(name) for name in of.names}
    assert needs_target(of, (names["nano"],)) == "nano"
    assert needs_target(of, (names["exit@at=8"],)) == "exit@at=8"
    assert needs_target(of, (names["nano"], names["int8"])) == "", "a copy of the target has such states too"
    assert needs_target(of, (names["exit@at=4"],)) == needs_target(of, (names["ngram"], names["int8"])) == ""


def test_a_lane_s_work_is_what_the_trace_counts() -> None:
    of, plan = profile(0.7, 3.0, 10.0), StackPlan((0, 1), (3,))
    for schedule in ("pearl", "ahead"):
        found = expected_on_lanes(of, OnTwoLanes(plan, schedule))
        events = list(play(of, plan, max_new_tokens=1500, plain=False, schedule=schedule))
        lanes = metrics.lanes(events)
        assert lanes is not None
        assert found.verifying == pytest.approx(lanes.busy[-1] / lanes.span, abs=0.02)
        assert found.drafting == pytest.approx(sum(lanes.busy[:-1]) / lanes.span, abs=0.02)


def test_a_simulated_run_says_whose_clock_it_is() -> None:
    of, plan = profile(0.7, 3.0, 10.0), StackPlan((0, 1), (3,))
    events = list(play(of, plan, max_new_tokens=150, schedule="pearl"))
    assert check(events) == []
    header = metrics.header_of(events)
    assert (clock_of(header), lanes_of(header)) == ("simulated", (0, 1)) and not header.reckoned
    assert header.stack == "model:3@id=d,target@with=pearl@id=t"
    assert metrics.measure(events)["decode_ms"] / 150 == pytest.approx(ms_of(of, plan), rel=0.15)
    assert expected(of, plan).ms_per_token > ms_of(of, plan)
    with pytest.raises(StackError, match="verifies nothing"):
        list(play(of, StackPlan((1,), ()), max_new_tokens=20, schedule="pearl"))


@pytest.mark.parametrize("schedule", ["pearl", "ahead"])
def test_the_command_says_what_was_expected(schedule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "--with", schedule, "--stack", "Llama 70B:4,Llama 405B", "--max-new-tokens", "40"]) == 0
    said = capsys.readouterr()
    assert "expected by the theory" in said.out and "on two machines" in said.out
