"""Levels that offer several candidates side by side: their price, their place in plans, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from monte_carlo import simulate

from hsd_core.theory import (
    Costs,
    Planner,
    Profile,
    ProfileError,
    ProfileLevel,
    StackPlan,
    best_plans,
    closed_form,
    expected,
    path_edges,
    plan_of,
    profile_from,
    stack_text,
)
from hsd_core.theory.latency.recursion import Pricer, over_texts
from hsd_core.theory.profiles.profile import check_levels

ONE, GUESS, FUSED, COPY, TARGET = range(5)
GREATEST = 5  # tokens of a block, where every plan is priced


def tower(row_ms: float = 1.0, *, two: tuple[float, ...] = (3.0, 2.0)) -> Profile:
    """A lookup of one sequence and of several, a draft with lookups beside it, a copy, the target: a row more costs the
    upper two so many ms."""
    levels = (
        ProfileLevel("ngram", Costs.constant(0.2), "ngram", 0.5, (1.0, 0.8)),
        ProfileLevel("ngram@guess=3", Costs.constant(0.3), "ngram@guess=3", 0.6, (1.0, 0.5), beside=two),
        ProfileLevel("nano@fuse=2", Costs.constant(1.0), "nano@fuse=2", draft_ms=1.5, beside=(2.0, 3.0)),
        ProfileLevel("int8", Costs((1, 33), (8.0, 8.0 + 16 * row_ms)), "int8"),
        ProfileLevel("target", Costs((1, 33), (30.0, 30.0 + 32 * row_ms)), "target"),
    )
    accepted = ((1, 0, 0, 0.5, 0.48), (0, 1, 0, 0.62, 0.6), (0, 0, 1, 0.55, 0.5), (0, 0, 0, 1, 0.95), (0, 0, 0, 0, 1))
    matrix = tuple(tuple(map(float, row)) for row in accepted)
    return Profile(levels, matrix, GREATEST, round_ms=0.1)


def test_a_verification_has_a_row_for_every_token_side_by_side():
    prediction = expected(tower(), StackPlan((GUESS, TARGET), (2,)))
    # Nothing 0.4; one deep 0.6 x 0.5, 1 + 3 rows; two deep 0.6 x 0.5, 1 + 3 + 2 rows.
    assert prediction.levels[0].block_lengths == pytest.approx((0.4, 0.3, 0.3))
    assert prediction.levels[1].ms_per_round == pytest.approx(0.4 * 30 + 0.3 * 33 + 0.3 * 35)
    assert prediction.tokens_per_round == pytest.approx(1 + 0.6 * 0.6 + 0.3 * 0.6**2)
    whole = (0.3 + 0.4 * 30 + 0.3 * 33 + 0.3 * 35 + 0.1) / (1 + 0.36 + 0.3 * 0.36)
    assert prediction.ms_per_token == pytest.approx(whole)


def test_the_last_depths_number_goes_on_and_a_mean_lies_between_two_costs():
    profile = tower(two=(2.5, 1.5))
    dist = expected(profile, StackPlan((GUESS, TARGET), (3,))).levels[0].block_lengths
    ms = expected(profile, StackPlan((GUESS, TARGET), (3,))).levels[1].ms_per_round
    assert ms == pytest.approx(dist[0] * 30 + dist[1] * 32.5 + dist[3] * (30 + 2.5 + 1.5 + 1.5))


def test_without_a_bonus_the_rows_of_the_last_depth_are_saved():
    ms = expected(tower(), StackPlan((GUESS, TARGET), (2,), (False,))).levels[1].ms_per_round
    assert ms == pytest.approx(0.4 * 30 + 0.3 * 30 + 0.3 * 33)


def test_a_draft_with_lookups_beside_it_is_paid_by_the_drafted_token_and_is_as_deep_as_asked():
    prediction = expected(tower(), StackPlan((FUSED, TARGET), (2,)))
    assert [share.ms_per_round for share in prediction.levels] == pytest.approx([3.0, 30 + 2 + 3])
    assert prediction.tokens_per_round == pytest.approx(1 + 0.5 + 0.25)


def test_the_probes_of_a_window_are_in_the_cost_of_the_pair():
    window = Costs((1, 33), (34.0, 66.0))
    profile = replace(tower(), edge_cost={(GUESS, TARGET): window})
    assert expected(profile, StackPlan((GUESS, TARGET), (1,))).levels[1].ms_per_round == pytest.approx(
        0.4 * 34 + 0.6 * 37
    )
    assert expected(profile, StackPlan((ONE, TARGET), (1,))) == expected(tower(), StackPlan((ONE, TARGET), (1,)))


def test_a_verifier_that_catches_up_does_so_on_top_of_all_tokens_side_by_side():
    sure = tuple(tuple(1.0 for _ in row) for row in tower().acceptance)
    profile = replace(tower(), acceptance=sure, round_ms=0.0)
    plan = StackPlan((FUSED, COPY, TARGET), (1, 2))
    # The copy keeps one token and adds one, in a pass of 3 rows, and of one more for its bonus of the round before.
    without, with_it = (Pricer(profile, catch_up=catch_up).price(plan) for catch_up in (False, True))
    assert [share.ms_per_round for share in without.levels] == pytest.approx([1.5, 8 + 0.5 * 2, 32])
    assert with_it.levels[1].ms_per_round == pytest.approx(8 + 0.5 * 3)


@pytest.mark.parametrize(
    "plan",
    [
        StackPlan((GUESS, TARGET), (4,)),
        StackPlan((FUSED, TARGET), (3,), (False,)),
        StackPlan((GUESS, COPY, TARGET), (3, 5)),
        StackPlan((FUSED, COPY, TARGET), (2, 4), (False, True)),
    ],
)
def test_several_side_by_side_cost_what_playing_the_rounds_out_costs(plan):
    profile = tower()
    ms, error = simulate(profile, plan, 60_000, seed=5)
    assert abs(expected(profile, plan).ms_per_token - ms) < 4 * error
    bottom = plan.levels[0]
    chain = replace(profile.levels[bottom], beside=())
    one = replace(profile, levels=(*profile.levels[:bottom], chain, *profile.levels[bottom + 1 :]))
    assert abs(expected(one, plan).ms_per_token - ms) > 4 * error, "the test tells it from one sequence"


def test_the_closed_form_of_two_levels_is_exact():
    for plan in (
        StackPlan((GUESS, TARGET), (4,)),
        StackPlan((FUSED, TARGET), (3,)),
        StackPlan((GUESS, TARGET), (3,), (False,)),
    ):
        assert closed_form(tower(), plan) == pytest.approx(expected(tower(), plan).ms_per_token)


def test_the_room_at_the_end_of_a_text_cuts_the_offer():
    profile, plan = tower(), StackPlan((GUESS, TARGET), (4,))
    rounds = Pricer(profile).by_room(plan, 8)
    for room in (2, 3, 4, 8):
        cut = expected(profile, StackPlan((GUESS, TARGET), (min(4, room - 1),)))
        assert rounds.ms[room] + 0.1 == pytest.approx(cut.ms_per_token * cut.tokens_per_round)
    long = over_texts(profile, plan, (4000,), 4000, catch_up=False).ms_per_token
    assert long == pytest.approx(expected(profile, plan).ms_per_token, rel=1e-3)


def test_the_edges_of_two_levels_add_up_to_the_exact_price():
    planner = Planner(tower())
    for plan in (StackPlan((level, TARGET), (u,)) for level in (GUESS, FUSED) for u in range(1, GREATEST + 1)):
        edges = path_edges(planner, plan)
        assert sum(edge.token_ms for edge in edges) == pytest.approx(expected(tower(), plan).ms_per_token)


def every_plan(profile: Profile) -> list[StackPlan]:
    lengths = range(1, profile.max_block + 1)
    sets = [below for size in (1, 2) for below in combinations(range(TARGET), size) if below[1:] in ((), (COPY,))]
    return [StackPlan((*below, TARGET), blocks) for below in sets for blocks in product(lengths, repeat=len(below))]


@pytest.mark.parametrize("row_ms", [0.01, 0.2, 3.0])
def test_the_planner_finds_the_best_of_one_sequence_and_of_several(row_ms):
    profile = tower(row_ms)
    found, prices = (
        Planner(profile).best(),
        {plan: expected(profile, plan).ms_per_token for plan in every_plan(profile)},
    )
    several = [ms for plan, ms in prices.items() if profile.levels[plan.levels[0]].beside]
    single = [ms for plan, ms in prices.items() if not profile.levels[plan.levels[0]].beside]
    assert found.several.prediction.ms_per_token == pytest.approx(min(several))
    assert found.single.prediction.ms_per_token == pytest.approx(min(single))
    assert found.best in (found.several, found.single)
    assert found.best.prediction.ms_per_token == pytest.approx(min(prices.values()))
    assert {0.01: found.several, 3.0: found.single}.get(row_ms, found.best) == found.best
    sets = {one.plan.levels: one.prediction.ms_per_token for one in Planner(profile).best_of_each_set()}
    assert set(sets) == {plan.levels for plan in prices} | {(TARGET,)}


def test_a_level_is_worth_what_the_rest_of_its_stack_is_slower():
    profile = tower(0.01)
    planner = Planner(profile)
    best = planner.best().best
    assert best.plan.levels[0] == GUESS
    rest = min(
        (plan for plan in every_plan(profile) if set(plan.levels) <= set(best.plan.levels) - {GUESS}),
        key=lambda p: planner.ranked(p).prediction.ms_per_token,
    )
    assert planner.worth(best)[0] == pytest.approx(expected(profile, rest).ms_per_token / best.prediction.ms_per_token)


def test_rules_that_judge_one_sequence_are_not_planned_above_several():
    matrix = tuple(tuple(min(1.0, a + 0.02) for a in row) for row in tower().acceptance)
    profile = replace(tower(0.01), by_rule={"block": matrix})
    answer = best_plans(profile)
    plans = [one.plan for one in (answer.best, *answer.alternatives)]
    assert any(plan.rule_of(1) == "block" for plan in plans if not profile.levels[plan.levels[0]].beside)
    assert {plan.rule_of(1) for plan in plans if profile.levels[plan.levels[0]].beside} == {"tokenwise"}
    with pytest.raises(ProfileError, match=r"rule block judges one candidate, and ngram@guess=3 offers several side"):
        expected(profile, StackPlan((GUESS, TARGET), (2,), rules=("block",)))
    assert plan_of(profile, "ngram:2@guess=3,int8:4,target@rule=block").rules == ("tokenwise", "block")


def test_a_stack_with_several_sequences_and_its_plan_are_one_thing():
    for text, plan in (
        ("ngram:4@guess=3,target", StackPlan((GUESS, TARGET), (4,))),
        ("ngram:4@guess=3,int8:6,target", StackPlan((GUESS, COPY, TARGET), (4, 6))),
        ("nano:2@fuse=2,target", StackPlan((FUSED, TARGET), (2,))),
        ("ngram:4,target", StackPlan((ONE, TARGET), (4,))),
    ):
        assert plan_of(tower(), text) == plan and stack_text(tower(), plan) == text


def test_lookups_beside_a_draft_mean_nothing_above_the_bottom():
    plain = replace(tower().levels[FUSED], name="nano", spec="nano", beside=())
    profile = replace(tower(), levels=(*tower().levels[:FUSED], plain, *tower().levels[COPY:]))
    assert plan_of(profile, "ngram:2,nano:3@fuse=2,target").levels == (ONE, FUSED, TARGET)


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        (
            "ngram:4@guess=7,int8:6,target",
            r"ngram:4@guess=7 is not in this profile; its levels are ngram, ngram@guess=3, nano@fuse=2, int8, target; "
            r"python -m hsd_core calibrate --preset smollm2 --levels ngram@guess=7,int8,target --out ",
        ),
        ("nano:4@fuse=3,target", "nano:4@fuse=3 is not in this profile; .* --levels nano@fuse=3,target"),
        ("lookahead:4,target", "lookahead:4 is not in this profile; .* --levels lookahead,target"),
        ("ngram:4@window=7,target", "ngram:4@window=7 is not in this profile; .* --levels ngram@window=7,target"),
        ("nano:2@tree=2.1@fuse=2,target", r"tree 2\.1: nano@fuse=2 offers several candidates .*; leave @tree= out"),
        ("ngram:4@guess=3@policy=flush,target", "which does not know that stop policy; its levels are "),
        (
            "int8:4@policy=confidence,target",
            "int8:4@policy=confidence is not in this profile, which does not know that stop policy",
        ),
        (
            "int8:4@policy=margin,target",
            "int8:4@policy=margin is not in this profile, which does not know that stop policy",
        ),
    ],
)
def test_what_a_profile_cannot_price_is_refused_with_the_cure(stack, why):
    with pytest.raises(ProfileError, match=why):
        plan_of(replace(tower(), about={"preset": "smollm2"}), stack)


def test_a_level_that_offers_several_sequences_cannot_verify():
    with pytest.raises(ProfileError, match="nano@fuse=2 offers several candidates side by side and cannot verify"):
        expected(tower(), StackPlan((ONE, FUSED, TARGET), (2, 2)))
    with pytest.raises(ProfileError, match="the target 'nano@fuse=2' has beside"):
        check_levels(tower().levels[: FUSED + 1])


def test_a_profile_that_does_not_say_how_many_tokens_stand_side_by_side_is_refused():
    silent = replace(tower().levels[GUESS], beside=())
    profile = replace(tower(), levels=(tower().levels[ONE], silent, *tower().levels[FUSED:]))
    with pytest.raises(ProfileError, match=r"level 'ngram@guess=3': .* how many \(beside\); calibrate again"):
        plan_of(profile, "ngram:4,target")


def test_side_by_side_goes_through_the_files_of_profiles():
    given = tower().as_dict()
    assert given["levels"][GUESS]["beside"] == [3.0, 2.0] and "beside" not in given["levels"][ONE]
    assert profile_from(given).levels == tower().levels
    assert tower().only((GUESS, TARGET)).levels[0].beside == (3.0, 2.0)
    for wrong in (0.5, 65.0, float("nan")):
        with pytest.raises(ProfileError, match=r"level 'a': beside is .*; give the mean tokens at each depth, 1 to 64"):
            ProfileLevel("a", Costs.constant(1.0), beside=(2.0, wrong))


def test_the_cost_of_a_fraction_of_a_row_lies_on_the_line():
    costs = Costs((2, 4, 8), (10.0, 12.0, 20.0))
    assert costs.at(np.array([1.0, 2.5, 4.0, 5.5, 9.25])) == pytest.approx((10.0, 10.5, 12.0, 15.0, 22.5))
    assert costs.at(np.arange(1.0, 12.0)).tolist() == costs.table(11)[1:].tolist()
