"""The planner against brute force, and what it says of the figures that decide whether a third level pays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from brute_force import every_plan
from profiles import flat, random_profile

from hsd_core.theory import Costs, Planner, ProfileError, StackPlan, best_plans, expected
from hsd_core.theory.search.paths import Mode
from hsd_core.theory.search.planner import node_ms, path_edges

PROFILES = 200
# Costs and (a01, a12, a02); gain = latency of the best two levels / of the best three.
GAINS = [
    ((1, 4, 32), (0.8, 0.85, 0.68), 1.24),
    ((1, 4, 32), (0.8, 0.85, 0.75), 1.08),
    ((1, 4, 32), (0.7, 0.85, 0.6), 1.17),
    ((1, 4, 32), (0.6, 0.69, 0.5), 1.07),
    ((1, 4, 32), (0.9, 0.9, 0.82), 1.15),
    ((1, 8, 32), (0.8, 0.85, 0.68), 1.10),
    ((1, 8, 32), (0.8, 0.85, 0.75), 0.92),
    ((1, 8, 32), (0.7, 0.85, 0.6), 1.20),
    ((1, 8, 32), (0.6, 0.69, 0.5), 0.97),
    ((1, 8, 32), (0.9, 0.9, 0.82), 1.00),
]


def path_ms(planner: Planner, plan: StackPlan) -> float:
    """ms per token of a plan by its edges."""
    return sum(edge.token_ms for edge in path_edges(planner, plan))


def test_the_plan_is_within_half_a_percent_of_brute_force():
    rng, depths, off = np.random.default_rng(7), [], []
    for k in range(PROFILES):
        steep = k % 2 == 0
        profile = random_profile(rng, int(rng.integers(3 if steep else 2, 5)), steep=steep)
        best = best_plans(profile).best
        off.append(best.prediction.ms_per_token / min(every_plan(profile).values()) - 1)
        depths.append(len(best.plan.levels))
    assert max(off) <= 0.005
    assert min(off) > -1e-9  # brute force has a recursion of its own
    assert {2, 3, 4} <= set(depths)


def test_a_lookup_takes_part_at_its_price():
    # No brute force of its own: every plan priced by the recursion, with the lookup only at the bottom.
    rng = np.random.default_rng(2)
    for _ in range(5):
        profile = random_profile(rng, 3, steep=True, max_block=6)
        lookup = replace(profile.levels[0], hit_rate=0.5, reach=(1.0, 0.9, 0.7))
        profile = replace(profile, levels=(lookup, *profile.levels[1:]), edge_cost={})
        best = min(expected(profile, plan).ms_per_token for plan in every_plan(profile))
        assert best_plans(profile).best.prediction.ms_per_token <= best * 1.005


@pytest.mark.parametrize(("costs", "a", "gain"), GAINS)
def test_when_a_third_level_pays(costs, a, gain):
    by_depth = best_plans(flat(costs, a[0], a[2], a[1])).by_depth
    assert by_depth[1].prediction.ms_per_token / by_depth[2].prediction.ms_per_token == pytest.approx(gain, abs=0.006)


def test_a_nearly_free_bottom_level_helps_most():
    for _, a, gain in GAINS[:5]:
        by_depth = best_plans(flat((0.1, 4, 32), a[0], a[2], a[1])).by_depth
        assert by_depth[1].prediction.ms_per_token / by_depth[2].prediction.ms_per_token > gain


def test_plain_decoding_is_the_answer_when_no_draft_helps():
    answer = best_plans(flat((20, 25, 32), 0.3, 0.2, 0.3))
    assert answer.best == answer.plain and answer.best.plan == StackPlan((2,), ())
    assert [len(each.plan.levels) for each in answer.by_depth] == [1, 2, 3]


def test_a_target_alone_is_decoded_plainly():
    answer = best_plans(flat((32,)))
    assert answer.best.plan == StackPlan((0,), ()) and answer.alternatives == ()


def test_two_levels_are_the_answer_when_the_middle_one_is_dear():
    assert len(best_plans(flat((1, 8, 32), 0.8, 0.75, 0.85)).best.plan.levels) == 2


def test_depth_and_candidates_narrow_the_answer():
    profile = flat((1, 4, 32), 0.8, 0.68, 0.85)
    assert len(best_plans(profile).best.plan.levels) == 3
    assert len(best_plans(profile, depth=2).best.plan.levels) == 2
    assert best_plans(profile, depth=1).best.plan == StackPlan((2,), ())
    assert best_plans(profile, levels=[0]).best.plan.levels == (0, 2)
    assert best_plans(profile, levels=[]).best.plan == StackPlan((2,), ())
    for wrong in ({"depth": 0}, {"shortlist": 0}, {"levels": [5]}):
        with pytest.raises(ProfileError):
            best_plans(profile, **wrong)


def test_answers_are_ranked_and_distinct():
    answer = best_plans(random_profile(np.random.default_rng(4), 4, steep=True))
    ranked = [answer.best, *answer.alternatives]
    ms = [each.prediction.ms_per_token for each in ranked]
    assert ms == sorted(ms) and len({each.plan for each in ranked}) == len(ranked) == 50
    assert answer.best.prediction.ms_per_token == min(each.prediction.ms_per_token for each in answer.by_depth)


def test_block_lengths_need_not_rise():
    # Tokens of the middle level are kept by its verifier far longer than its verifier's own by the target.
    plan = best_plans(flat((0.05, 4, 32), 0.97, 0.5, 0.6)).by_depth[2].plan
    assert plan.blocks[0] > plan.blocks[1]


def test_each_edge_takes_the_rule_that_suits_it():
    profile = flat((1, 4, 32), 0.8, 0.68, 0.85)
    better = ((1.0, 0.7, 0.6), (0.0, 1.0, 0.92), (0.0, 0.0, 1.0))
    answer = best_plans(replace(profile, by_rule={"block": better}))
    assert answer.best.plan.rules == ("tokenwise", "block")
    assert answer.best.prediction.ms_per_token < best_plans(profile).best.prediction.ms_per_token


def test_a_bonus_is_dropped_where_its_row_is_dear():
    profile = replace(flat((2, 10), 0.9), edge_cost={(0, 1): Costs((1, 2, 3), (4, 12, 30))}, max_block=4)
    best = Planner(profile, drop_bonus=True).best().best
    assert best.plan.bonus == (False,) and best.plan.blocks == (1,)
    assert best.prediction.ms_per_token < Planner(profile).best().best.prediction.ms_per_token


def test_a_level_is_worth_what_its_absence_costs():
    profile = flat((1, 4, 32), 0.8, 0.68, 0.85)
    planner = Planner(profile)
    worth = dict(enumerate(planner.worth(planner.best().best)))
    two = {level: best_plans(profile, levels=[1 - level]).best.prediction.ms_per_token for level in (0, 1)}
    three = best_plans(profile).best.prediction.ms_per_token
    assert worth == {level: pytest.approx(two[level] / three) for level in (0, 1)}


def test_the_edges_of_the_best_path_add_up_to_its_price():
    planner = Planner(random_profile(np.random.default_rng(9), 4, steep=True))
    best = planner.best().best
    edges, nodes = path_edges(planner, best.plan), node_ms(planner)
    assert [edge.above[0] for edge in edges] == list(reversed(best.plan.levels)) and edges[-1].below is None
    total, flow = 0.0, 1.0
    for edge in edges:
        assert edge.token_ms == pytest.approx(flow * edge.cost_ms)
        total, flow = total + flow * edge.cost_ms, flow * edge.gain
    assert total == pytest.approx(path_ms(planner, best.plan))
    assert total == pytest.approx(best.prediction.ms_per_token, rel=0.1)  # all but the overshoot
    # The nodes' distances and the plans' paths are one thing: the cheapest path leaves by the best node.
    leaving = [path_ms(planner, StackPlan((level, 3), (t,))) for level in range(3) for t in range(1, 9)]
    assert min(leaving) >= best_by_edges(planner, nodes) - 1e-9


def best_by_edges(planner: Planner, nodes: np.ndarray) -> float:
    """The last step of the shortest path, taken from the nodes' distances."""
    profile, out = planner.profile, []
    for level, row in enumerate(nodes):
        table = planner.edges.table(level, profile.target, planner.modes[0])
        out += [(ms + table.ms[t] + profile.round_ms) / table.tokens[t] for t, ms in enumerate(row)]
    return float(min(out))


@pytest.mark.parametrize("bottom", ["drafter", "lookup"])
@pytest.mark.parametrize("bonus", [True, False])
def test_an_edge_of_the_graph_has_the_gain_of_the_recursion(bottom, bonus):
    # One level of collecting, from blocks of a bottom level: the separable gain is exact there.
    profile = flat((1, 4, 32), 0.8, 0.68, 0.85, max_block=8)
    if bottom == "lookup":
        lookup = replace(profile.levels[0], hit_rate=0.7, reach=(1.0, 0.5))
        profile = replace(profile, levels=(lookup, *profile.levels[1:]))
    planner = Planner(profile)
    mode = Mode("tokenwise", bonus)
    for u in range(1, 9):
        two = StackPlan((0, 2), (u,), (bonus,))
        assert path_ms(planner, two) == pytest.approx(expected(profile, two).ms_per_token)
        for t in range(1, 9):
            calls = expected(profile, StackPlan((0, 1, 2), (u, t), (bonus, True))).levels[1].calls_per_round
            assert planner.edges.table(0, 1, mode).rounds[t - 1, u - 1] == pytest.approx(calls)
