"""Trees of drafts in the theory: their price, the shapes that are worth most, and when one candidate is enough."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from monte_carlo import simulate
from profiles import flat

from hsd_core.measure.calibrate.acceptance import fork_chances
from hsd_core.measure.validate.raw_results import predictions
from hsd_core.theory import (
    Costs,
    Planner,
    Profile,
    ProfileError,
    StackPlan,
    closed_form,
    expected,
    plan_of,
    stack_text,
)
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.profile_json import profile_from
from hsd_core.theory.search.planner import best_shapes

WIDTHS = (0.6, 0.72, 0.78, 0.81)


def tower(slope: float = 0.5, between: float = 0.2) -> Profile:
    """Three levels with specs, whose lower two may draft trees; a row more costs the upper two so many ms."""
    profile = flat((1, 4, 32), 0.6, 0.5, 0.85)
    specs, rows = ("nano", "exit@at=8", "target"), ((1.0, 0.1), (4.0, between), (32.0, slope))
    levels = tuple(
        replace(level, spec=spec, cost=Costs((1, 33), (ms, ms + 32 * more)))
        for level, spec, (ms, more) in zip(profile.levels, specs, rows, strict=True)
    )
    known = {(0, 1): WIDTHS, (0, 2): (0.5, 0.6, 0.66, 0.7), (1, 2): (0.85, 0.93)}
    return replace(profile, levels=levels, by_width=known)


@pytest.mark.parametrize(
    "plan",
    [
        StackPlan((0, 2), (3,), widths=(3, 2, 1)),
        StackPlan((1, 2), (2,), widths=(2, 2)),
        StackPlan((0, 1, 2), (3, 4), widths=(4, 1, 2)),
        StackPlan((0, 1, 2), (2, 6), (True, False), widths=(2, 2)),
    ],
)
def test_a_tree_costs_what_playing_its_rounds_out_costs(plan):
    profile = tower()
    ms, error = simulate(profile, plan, 60_000, seed=3)
    assert abs(expected(profile, plan).ms_per_token - ms) < 4 * error
    if len(plan.levels) == 2:  # the test would see a tree priced as a chain
        assert abs(expected(profile, replace(plan, widths=())).ms_per_token - ms) > 4 * error


def test_the_closed_form_of_one_tree_under_the_target_is_exact():
    for plan in (StackPlan((0, 2), (3,), widths=(3, 2, 1)), StackPlan((1, 2), (2,), widths=(2, 2))):
        assert closed_form(tower(), plan) == pytest.approx(expected(tower(), plan).ms_per_token)


def test_a_validation_predicts_trees_in_every_model_of_the_theory():
    plan = StackPlan((1, 2), (2,), widths=(2, 2))
    by_model = predictions(tower(), plan, (20, 40), 40)
    chain = predictions(tower(), replace(plan, widths=()), (20, 40), 40)
    assert all(abs(by_model[model] - chain[model]) > 0.1 for model in chain)


def test_the_room_at_the_end_of_a_text_cuts_a_tree():
    profile, plan = tower(), StackPlan((0, 2), (3,), widths=(3, 2, 1))
    rounds = Pricer(profile).by_room(plan, 9)
    whole, two = expected(profile, plan), expected(profile, StackPlan((0, 2), (2,), widths=(3, 2)))
    tokens = (rounds.dist * np.arange(rounds.dist.shape[1])).sum(1)
    assert tokens[9] == pytest.approx(whole.tokens_per_round) and tokens[3] == pytest.approx(two.tokens_per_round)
    assert tokens[1] == 1.0 and rounds.ms[1] == profile.levels[-1].cost(1)  # room for the target's own token alone


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_no_shape_of_as_many_nodes_keeps_more_tokens(depth):
    acceptance = np.sort(np.random.default_rng(depth).random(4)).tolist()

    def kept(shape: tuple[int, ...]) -> float:
        return sum(np.prod([acceptance[k - 1] for k in shape[: m + 1]]) for m in range(len(shape)))

    found = best_shapes(acceptance, nodes=16, depth=depth)
    nodes = {shape: sum(np.cumprod(shape)) for shape in product(range(1, 5), repeat=depth)}
    for most in range(depth + 1, 17):
        best = max(kept(shape) for shape, n in nodes.items() if n <= most)
        among = [kept(shape) for shape in found if len(shape) == depth and sum(np.cumprod(shape)) <= most]
        assert not among or max(among) <= best + 1e-12
        assert max([*among, kept((1,) * depth)]) == pytest.approx(best)


def test_the_planner_answers_with_a_tree_where_rows_are_nearly_free_and_with_one_candidate_where_they_are_not():
    cheap, dear = Planner(tower(0.05)).best().best, Planner(tower(12.0, 3.0)).best().best
    assert cheap.plan.widths and max(cheap.plan.widths) > 1 and not dear.plan.widths
    without = Planner(tower(0.05), trees=False).best().best
    assert not without.plan.widths and without.prediction.ms_per_token > cheap.prediction.ms_per_token
    every = [
        StackPlan((j, 2), (len(shape),), widths=shape)
        for j, wide in ((0, 4), (1, 2))
        for deep in range(1, 6)
        for shape in product(range(1, wide + 1), repeat=deep)
        if max(shape) > 1 and sum(np.cumprod(shape)) <= 24
    ]
    two = Planner(tower(0.05)).best(depth=2).best
    assert two.prediction.ms_per_token <= min(each.ms_per_token for each in Pricer(tower(0.05)).price_all(every)) + 1e-9


def test_a_plan_with_a_tree_and_its_stack_are_one_thing():
    profile, text = tower(), "exit:3@at=8@tree=2.2.1,target"
    plan = plan_of(profile, text)
    assert plan == StackPlan((1, 2), (3,), widths=(2, 2, 1)) and stack_text(profile, plan) == text and plan.nodes == 10
    assert plan_of(profile, "exit@at=8@tree=2.2.1,target") == plan
    assert plan_of(profile, "exit:2@at=8@tree=1.1,target") == StackPlan((1, 2), (2,))


def test_draws_with_replacement_are_refused_where_a_profile_does_not_know_them():
    """A greedy run offers the same tokens either way; sampled ones are kept less often than the profile says."""
    text = "exit:3@at=8@tree=2.2.1@replace=1,target"
    assert plan_of(tower(), text) == plan_of(tower(), "exit:3@at=8@tree=2.2.1,target")
    with pytest.raises(ProfileError, match=r"replace=1: .* drawn without replacement .* without @replace="):
        plan_of(replace(tower(), temperature=0.8), text)
    one = plan_of(replace(tower(), temperature=0.8), "exit:2@at=8@tree=1.1@replace=1,target")
    assert not one.widths  # one draw is one draw


def test_a_tree_that_is_shaped_again_in_every_round_is_not_priced():
    with pytest.raises(ProfileError, match=r"exit:3@at=8@grow=6: .* fixed shapes; .* without @grow="):
        plan_of(tower(), "exit:3@at=8@grow=6,target")


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (StackPlan((1, 2), (2,), widths=(3, 1)), "how often target accepts one of 3 tokens of .*; use no more than 2"),
        (StackPlan((0, 2), (2,), widths=(2, 1, 1)), "tree 2.1.1: give a number from 1 for each token"),
        (StackPlan((0, 2), (2,), (False,), widths=(2, 1)), "only under rule tokenwise with a bonus"),
    ],
)
def test_a_tree_that_the_profile_cannot_price_is_refused(plan, why):
    profile = tower()
    profile = replace(profile, levels=(*profile.levels[:2], replace(profile.levels[2], name="target")))
    with pytest.raises(ProfileError, match=why):
        expected(profile, plan)


def test_a_profile_without_forks_asks_for_a_new_calibration():
    profile = replace(tower(), by_width={})
    with pytest.raises(ProfileError, match="calibrate again"):
        expected(profile, StackPlan((0, 2), (2,), widths=(2, 1)))
    assert not Planner(profile).best().best.plan.widths


def test_forks_go_through_the_files_of_profiles():
    profile = tower()
    assert profile_from(profile.as_dict()).by_width == profile.by_width
    with pytest.raises(ProfileError, match=r"by_width of m0 by m1 is 1\.5"):
        replace(profile, by_width={(0, 1): (0.5, 1.5)})


def test_the_acceptance_of_drawn_forks_is_that_of_recursive_rejection():
    """Against every order of draws, and every outcome of their coins, of one pair of rows."""
    q, p = torch.tensor([0.5, 0.3, 0.2, 0.0, 0.0]), torch.tensor([0.1, 0.2, 0.3, 0.4, 0.0])

    def refused(q: torch.Tensor, p: torch.Tensor, k: int) -> float:
        if not k or not float(q.sum()):
            return 1.0
        dist, total = q / q.sum(), 0.0
        for x in range(len(q)):
            if dist[x] > 0:
                left = (p - dist).clamp_min(0)
                drawn = dist.clone()
                drawn[x] = 0
                rest = refused(drawn, left / left.sum(), k - 1)
                total += float(dist[x]) * (1 - min(1.0, float(p[x] / dist[x]))) * rest
        return total

    n = 40_000
    means = [kept.mean() for kept in fork_chances(q.expand(n, -1), p.expand(n, -1), 5, seed=1)]
    for k, mean in enumerate(means, start=1):
        assert mean == pytest.approx(1 - refused(q, p, min(k, 3)), abs=0.006)
    assert means[0] < means[1] - 0.05
