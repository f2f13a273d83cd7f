"""Stop policies in the theory: a block that ends behind a token that is not sure, against all its outcomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from hsd_core.theory import Costs, Planner, Profile, ProfileError, ProfileLevel, StackPlan, plan_of, profile_from
from hsd_core.theory.latency.plans import Stop, stack_text
from hsd_core.theory.latency.recursion import Pricer, over_texts

SHARE, KEPT, PASSED, ACCEPTED = (
    0.88,
    0.99,
    0.6,
    0.9,
)  # of the middle's tokens, of sure ones, by the middle, by the target
MARGIN: Stop = ("margin", 0.2)
PROFILE = Profile(
    tuple(
        ProfileLevel(name, Costs((1, 8), ms), name, 1.0 if name == "ngram" else None)
        for name, ms in (("ngram", (0.1, 0.1)), ("int8", (5.0, 6.0)), ("target", (20.0, 22.0)))
    ),
    ((1.0, PASSED, 0.5), (0.0, 1.0, ACCEPTED), (0.0, 0.0, 1.0)),
    sure={(1, 2): {"margin": ((0.2, SHARE, KEPT),)}},
)
NAMED = "ngram:2,int8:5@policy=margin@theta=0.2,target"


def enumerated(drafted: int, length: int, share: float) -> tuple[float, float]:
    """Tokens and ms of a round of the target, over all outcomes: who of a block is sure, and how many are accepted."""
    ends = Counter[tuple[bool, ...]]()
    ms, waiting = 0.0, Counter({(): 1.0})
    while waiting:
        held, chance = waiting.popitem()
        ms += chance * (0.1 + PROFILE.levels[1].cost(drafted + 1))
        for passed in range(drafted + 1):
            brought = PASSED**passed * (1.0 if passed == drafted else 1.0 - PASSED) * chance
            outcomes = {held: brought}
            for _ in range(passed + 1):
                outcomes = {
                    (*one, sure): p * (share if sure else 1.0 - share)
                    for one, p in outcomes.items()
                    for sure in (True, False)
                    if share < 1.0 or sure
                }
            for one, p in outcomes.items():
                (waiting if all(one) and len(one) < length else ends)[one] += p
    unsure = (ACCEPTED - share * KEPT) / (1.0 - share) if share < 1.0 else 0.0
    sure = KEPT if share < 1.0 else ACCEPTED
    tokens = 1.0
    for block, chance in ends.items():
        ms += chance * PROFILE.levels[2].cost(len(block) + 1)
        for one in block:
            chance *= sure if one else unsure
            tokens += chance
    return tokens, ms


@pytest.mark.parametrize(("drafted", "length"), [(1, 1), (2, 3), (2, 5), (3, 4)])
def test_a_plan_with_a_stop_policy_costs_what_all_its_outcomes_cost(drafted: int, length: int) -> None:
    for stop, share in ((MARGIN, SHARE), (None, 1.0)):
        plan = StackPlan((0, 1, 2), (drafted, length), stops=(None, stop))
        tokens, ms = enumerated(drafted, length, share)
        found = Pricer(PROFILE).price(plan)
        assert found.tokens_per_round == pytest.approx(tokens) and sum(found.levels[-1].block_lengths) == pytest.approx(
            1
        )
        assert found.ms_per_token == pytest.approx(ms / tokens)
        together = Pricer(PROFILE).price_all([replace(plan, stops=()), plan])[1]
        assert together.ms_per_token == pytest.approx(found.ms_per_token)


def test_over_long_texts_the_price_is_that_of_endless_ones() -> None:
    plan = plan_of(PROFILE, NAMED)
    endless, ended = Pricer(PROFILE, True).price(plan), over_texts(PROFILE, plan, [400], 400)
    assert ended.ms_per_token == pytest.approx(endless.ms_per_token, rel=0.01)


def test_the_planner_takes_a_policy_where_it_pays_and_longer_blocks_with_it() -> None:
    assert Planner(PROFILE, trees=False).best().best.plan.stops == ()
    found = Planner(PROFILE, trees=False, stops=True).best().best
    fixed = Planner(PROFILE, trees=False).best().best
    assert found.plan.stops == (None, MARGIN) and found.prediction.ms_per_token < fixed.prediction.ms_per_token
    assert plan_of(PROFILE, stack_text(PROFILE, found.plan)) == found.plan
    blunt = replace(PROFILE, sure={(1, 2): {"margin": ((0.2, SHARE, ACCEPTED),)}})  # it tells nothing
    assert Planner(blunt, trees=False, stops=True).best().best.plan.stops == ()


def test_a_profile_keeps_how_sure_tokens_are_and_names_what_it_does_not_know() -> None:
    assert plan_of(PROFILE, NAMED).stops == (None, MARGIN)
    assert profile_from(PROFILE.as_dict()) == PROFILE and PROFILE.only((1, 2)).sure == {(0, 1): PROFILE.sure[1, 2]}
    with pytest.raises(ProfileError, match=r"int8 below target: .* margin at 0.3; use @theta= 0.2"):
        plan_of(PROFILE, NAMED.replace("0.2", "0.3"))
    with pytest.raises(ProfileError, match="not in this profile"):
        plan_of(PROFILE, NAMED.replace("margin", "confidence"))
    with pytest.raises(ProfileError, match="thresholds and shares are 0 to 1"):
        replace(PROFILE, sure={(1, 2): {"margin": ((0.2, 1.5, 0.5),)}})
