"""Profiles: how they are read, what is between the measured row counts, and what is refused with which words."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from profiles import random_stack

from hsd_core.theory import (
    Costs,
    ProfileError,
    StackPlan,
    plan_of,
    profile_from,
    read_profile,
    stack_text,
    write_profile,
)

SMALL = {
    "levels": [
        {"name": "m0", "cost_ms": {"1": 0.5, "8": 0.6}, "spec": "ngram", "hit_rate": 0.4, "reach": [1, 0.5]},
        {
            "name": "m1",
            "cost_ms": {"1": 3, "4": 6},
            "interval_ms": {"1": [2, 4], "4": [5, 7]},
            "spec": "exit@at=8",
            "draft_ms": 2.5,
            "joint_ms": {"1": {"1": 3, "8": 5}, "4": {"1": 4, "8": 18}},
        },
        {"name": "big", "cost_ms": {"1": 20, "8": 24}, "spec": "target"},
    ],
    "acceptance": [[1, 0.8, 0.7], [None, 1, 0.9], [0, 0, 1]],
    "max_block": 12,
    "edge_cost_ms": {"m1->big": {"4": 15.0}},
    "interval": [[None, [0.7, 0.9], None], [None, None, [0.88, 0.92]], [None, None, None]],
    "temperature": 0.8,
    "round_ms": 0.2,
    "by_width": {"m1->big": [0.9, 0.95]},
    "by_rule": {"block": [[1, 0.82, 0.72], [0, 1, 0.93], [0, 0, 1]]},
    "about": {"device": "cpu"},
}


def test_the_smallest_profile_needs_levels_and_acceptance_only():
    given = {
        "levels": [{"name": "a", "cost_ms": {"1": 1}}, {"name": "b", "cost_ms": 9}],
        "acceptance": [[1, 0.8], [0, 1]],
    }
    profile = profile_from(given)
    assert (profile.max_block, profile.temperature, profile.round_ms, profile.plain_ms) == (16, 0, 0, 9)


def test_a_profile_survives_its_file(tmp_path):
    profile = profile_from(SMALL)
    write_profile(profile, tmp_path / "profile.json")
    assert read_profile(tmp_path / "profile.json") == profile
    assert profile.as_dict()["version"] == 1 and profile.levels[1].cost.low == (2, 5)
    for seed in range(10):
        made, _ = random_stack(np.random.default_rng(seed))
        again = profile_from(json.loads(json.dumps(made.as_dict())))
        assert again.by_width == made.by_width and again.edge_cost == made.edge_cost
        assert all(again.accepts(i, j) == made.accepts(i, j) for j in range(len(made.levels)) for i in range(j))


def test_of_the_finer_acceptances_of_older_files_those_by_width_are_read():
    given = copy.deepcopy(SMALL)
    finer = {"accepted": 0.95, "residual": 0.4, "by_position": [0.9], "forks": [[0.9, 0.95]], "by_kind": {"code": 0.97}}
    widths = given.pop("by_width")["m1->big"]
    given["conditional"] = {"m0->m1": finer, "m1->big": {**finer, "by_width": widths, "counts": {"accepted": 90}}}
    assert profile_from(given) == profile_from(SMALL)


def test_a_hit_rate_may_stand_outside_its_level():
    given = copy.deepcopy(SMALL)
    given["hit_rate"] = {"m0": given["levels"][0].pop("hit_rate")}
    assert profile_from(given) == profile_from(SMALL)


def test_costs_are_straight_lines_between_the_row_counts():
    costs = Costs((2, 4, 8), (10, 20, 22))
    assert [costs(n) for n in (0, 1, 2, 3, 4, 6, 8, 10)] == [0, 10, 10, 15, 20, 21, 22, 23]
    assert costs.table(10) == pytest.approx([0, 10, 10, 15, 20, 20.5, 21, 21.5, 22, 22.5, 23])


def test_costs_never_fall_beyond_the_last_row_count():
    assert Costs((1, 4), (10, 8))(100) == 8
    assert Costs((4,), (7,)).table(9)[1:] == pytest.approx([7] * 9)


def test_a_part_of_a_profile_keeps_its_pairs():
    part = profile_from(SMALL).only((1, 2))
    assert part.names == ("m1", "big") and part.accepts(0, 1) == 0.9
    assert part.edge_cost[(0, 1)](1) == 15 and part.by_width[(0, 1)] == (0.9, 0.95)


def test_a_plan_and_its_stack_are_one_thing():
    profile = profile_from(SMALL)
    plan = StackPlan((0, 1, 2), (2, 6))
    assert stack_text(profile, plan) == "ngram:2,exit:6@at=8,target"
    assert plan_of(profile, "ngram:2,exit:6@at=8,target") == plan
    assert plan_of(profile, "target") == StackPlan((2,), ())
    fancy = "ngram:2,exit:6@at=8@bonus=0,target@rule=block"
    assert plan_of(profile, fancy) == StackPlan((0, 1, 2), (2, 6), (False, True), ("tokenwise", "block"))
    assert stack_text(profile, plan_of(profile, fancy)) == fancy


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        ("int8:4,target", "int8:4 is not in this profile"),
        ("exit:4@at=4,target", "exit:4@at=4 is not in this profile"),
        ("exit:4@at=8@policy=flush,target", "not in this profile"),
        ("exit@at=8,target", "no block length"),
        ("exit:4@at=8,target@rule=greedy", "no acceptances for the rule 'greedy'"),
        ("exit:4@at=8", "end the stack with target"),
        ("ngram:4@guess=7,target", "calibrate --levels ngram@guess=7,target --out FILE measures it"),
    ],
)
def test_a_stack_that_the_profile_cannot_price_is_refused(stack, why):
    with pytest.raises(ProfileError, match=why):
        plan_of(profile_from(SMALL), stack)


def test_at_temperature_zero_every_strict_rule_is_one():
    given = {**SMALL, "temperature": 0.0, "by_rule": {}}
    assert plan_of(profile_from(given), "exit:4@at=8,target@rule=greedy") == StackPlan((1, 2), (4,))


def test_a_level_without_weights_has_no_stack():
    given = copy.deepcopy(SMALL)
    del given["levels"][1]["spec"]
    with pytest.raises(ProfileError, match="'m1' has no spec"):
        stack_text(profile_from(given), StackPlan((1, 2), (4,)))


def _set(path, value):
    def change(given):
        *way, last = path
        for key in way:
            given = given[key]
        given[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_set(["acceptance"], [[1, 0.8], [0, 1]]), "acceptance is 2 x 2; give 3 x 3"),
        (_set(["acceptance"], 0.8), "acceptance: expected a list, got float"),
        (_set(["acceptance", 0, 2], 1.2), "acceptance of m0 by big is 1.2; use a number from 0 to 1"),
        (_set(["acceptance", 0, 2], float("nan")), "acceptance of m0 by big is nan; use a number"),
        (_set(["acceptance", 0, 2], "high"), r"acceptance\[0\]\[2\]: expected a number, got str"),
        (_set(["levels", 1, "cost_ms"], {"1": 0}), "level 'm1': cost_ms: 0.0 is not a cost; use a positive"),
        (_set(["levels", 1, "cost_ms"], {"1": -3}), "-3.0 is not a cost"),
        (_set(["levels", 1, "cost_ms"], {"0": 3}), "rising whole numbers from 1"),
        (_set(["levels", 1, "cost_ms"], {"one": 3}), "row count 'one'"),
        (_set(["levels", 1, "cost_ms"], {}), "level 'm1': cost_ms: give ms by row count"),
        (_set(["levels", 1, "interval_ms"], {"1": [2, 4]}), "for every row count"),
        (_set(["levels", 1, "joint_ms"], {"4": {"1": 3}}), r"joint_ms is of \[4\] texts; give 1"),
        (_set(["levels", 1, "joint_ms", "4"], {"1": 0}), "level 'm1': joint_ms of 4: 0.0 is not a cost"),
        (_set(["levels", 1, "joint_ms"], {"many": 3}), "joint_ms: texts 'many' is not a whole number"),
        (_set(["levels", 1, "name"], "m0"), "'m0' is given twice"),
        (_set(["levels", 1, "name"], ""), "a level has no name; give each one its own"),
        (_set(["levels", 1, "price"], 3), "unknown field 'price'"),
        (_set(["levels", 0, "hit_rate"], 2), "level 'm0': hit_rate is 2"),
        (_set(["levels", 0, "reach"], [0.5, 0.9]), "never rise"),
        (_set(["levels", 2, "hit_rate"], 0.5), "the target 'big' is a lookup"),
        (_set(["levels"], []), "levels has 0 entries"),
        (_set(["max_block"], 0), "max_block is 0"),
        (_set(["max_block"], 1000), "max_block is 1000"),
        (_set(["max_block"], 2.5), "max_block: expected a whole number, got float"),
        (_set(["edge_cost_ms"], {"m1->small": {"1": 2}}), "edge_cost_ms has 'm1->small'"),
        (_set(["edge_cost_ms"], {"big->m1": {"1": 2}}), "the drafter must stand below"),
        (_set(["by_width", "m1->big"], [0.9, 3]), "by_width of m1 by big is 3.0; use 0 to 1"),
        (_set(["by_width"], {"big->m1": [0.9]}), "the drafter must stand below"),
        (_set(["conditional"], {"m1->big": 0.9}), "conditional"),
        (_set(["by_rule", "block"], [[1]]), "by_rule 'block' is 1 x 1"),
        (_set(["hit_rate"], {"m9": 0.5}), "hit_rate names 'm9'"),
        (_set(["round_ms"], -1), "round_ms is -1"),
        (_set(["interval"], [[None]]), "interval must be 3 x 3"),
        (_set(["version"], 2), "version is 2; this program reads version 1"),
        (_set(["temprature"], 1), "unknown field 'temprature'"),
    ],
)
def test_a_wrong_field_is_named_with_its_cure(change, why):
    given = copy.deepcopy(SMALL)
    change(given)
    with pytest.raises(ProfileError, match=why):
        profile_from(given)


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "null", "\x00"])
def test_a_file_that_is_no_profile_is_named(text, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=r"broken\.json"):
        read_profile(path)
