"""Is another level worth it: the curve is the planner's own, and its crossing is where two plans take the same time."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from app.tabs.planner.profiles.plan_request import PlannerError
from app.tabs.planner.worker import AnotherLevels
from hsd_core.theory import Costs, Planner, Profile, ProfileError, ProfileLevel, read_profile
from hsd_core.theory.latency.plans import plan_text
from hsd_core.theory.profiles.profile import with_pair_accepted, with_scaled_cost
from hsd_core.theory.search.another_level import AGREEMENTS, SHARES, AnotherLevel, crossings

PROFILES = Path(__file__).resolve().parents[2] / "assets" / "profiles"
SHIPPED = sorted(path for path in PROFILES.glob("*.json") if not path.stem.endswith("-validation"))


def made_up() -> Profile:
    """Three levels that cost 1 : 4 : 32."""
    levels = [
        ProfileLevel(name, Costs((1, 16), (ms, 1.5 * ms)), spec=f"table@id={name}")
        for name, ms in (("order1", 1.0), ("order3", 4.0), ("order6", 32.0))
    ]
    return Profile(tuple(levels), ((1, 0.8, 0.68), (0, 1, 0.85), (0, 0, 1)), by_width={(1, 2): (0.85, 0.9)})


@pytest.fixture(scope="module")
def asked() -> AnotherLevel:
    return AnotherLevel(made_up())


def test_the_profile_s_own_point_is_the_planner_s_own_plan(asked: AnotherLevel) -> None:
    found = Planner(made_up(), trees=False).best(depth=3).by_depth
    own = next(point for point in asked.curve() if point.share == asked.share)
    assert (asked.share, asked.agreement) == (4.0 / 32.0, 0.85)
    assert own.more == found[2] and own.fewer == found[1]


def test_every_point_is_the_best_plan_of_a_profile_with_those_numbers(asked: AnotherLevel) -> None:
    for share, agreement in ((0.25, 0.7), (0.6, 0.95)):
        profile = with_pair_accepted(with_scaled_cost(made_up(), 1, share / (4 / 32)), 1, 2, agreement)
        assert profile.levels[1].cost(1) / profile.levels[2].cost(1) == pytest.approx(share)
        assert profile.accepts(1, 2) == agreement and profile.accepts(0, 1) == 0.8 and profile.by_width == {}
        point, found = asked.at(share, agreement), Planner(profile, trees=False).best().by_depth
        assert point.more.prediction.speedup == pytest.approx(found[2].prediction.speedup)
        assert point.fewer.prediction.speedup == pytest.approx(found[1].prediction.speedup)


def test_the_answer_moves_with_both_sliders(asked: AnotherLevel) -> None:
    gains = {agreement: [point.gain for point in asked.curve(agreement)] for agreement in (0.5, 0.85, 1.0)}
    assert gains[0.85][0] > 1 > gains[0.85][-1], "cheap it pays, dear it does not"
    assert all(a < b for a, b in zip(gains[0.5][1:], gains[1.0][1:], strict=False)), (
        "the more it is right the more it pays"
    )


def test_at_a_crossing_both_take_the_same_time(asked: AnotherLevel) -> None:
    for agreement in (0.7, None, 1.0):
        points = asked.curve(agreement)
        for share in crossings(points):
            assert asked.at(share, agreement).gain == pytest.approx(1.0, abs=0.01)
        sides = [point.gain > 1 for point in points]
        assert len(crossings(points)) == sum(a != b for a, b in pairwise(sides))


def test_an_answer_has_a_point_for_each_cost_and_stops_for_the_slider(asked: AnotherLevel) -> None:
    answer = asked.answer(AGREEMENTS[3])
    assert answer["agreements"] == sorted({*AGREEMENTS, 0.85}) and answer["at"] == AGREEMENTS[3]
    assert [point["share"] for point in answer["points"]] == sorted({*SHARES, asked.share})
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_profile_has_an_answer_that_moves(path: Path) -> None:
    answer = AnotherLevel(read_profile(path)).answer()
    assert [level["name"] for level in answer["levels"]][-1] == "target" and len(answer["levels"]) == 3
    assert answer["runs"] and answer["crossings"], "there is a cost at which it ceases to pay"
    own = next(point for point in answer["points"] if point["share"] == answer["share"])
    assert own["more"]["speedup"] > 1 and own["more"]["stack"].endswith(",target")


def test_a_target_alone_has_no_answer() -> None:
    with pytest.raises(ProfileError, match="only the target"):
        AnotherLevel(made_up().only((2,)))


def test_the_page_s_question_is_answered_with_its_sliders_and_refused_where_it_is_none() -> None:
    desk = AnotherLevels()
    question = {"profile": made_up().as_dict(), "max_block": 4, "agreement": 0.9}
    said = desk.answer(json.dumps(question))
    assert said["at"] == 0.9
    assert (
        max(int(level.split(":")[1].split("@")[0]) for level in said["points"][0]["more"]["stack"].split(",")[:-1]) <= 4
    )
    assert desk.answer(json.dumps({**question, "agreement": None}))["at"] == 0.85
    for wrong in (1.2, "often", True):
        with pytest.raises(PlannerError, match="from 0 to 1"):
            desk.answer(json.dumps({**question, "agreement": wrong}))
    with pytest.raises(PlannerError, match="profile"):
        desk.answer("{}")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_first_answer_and_the_table_of_all_plans_have_the_same_figures(path: Path) -> None:
    """ "Three levels are 1.72 times as fast, two levels 1.55": the same two as under "How many levels?"."""
    profile = read_profile(path)
    asked, planner = AnotherLevel(profile), Planner(profile)
    found, own = planner.best(), asked.at(asked.share)
    by_depth = {len(one.plan.levels): one.prediction.speedup for one in found.by_depth}
    shown = [asked._shown(one) for one in (own.fewer, own.more)]
    assert [one["speedup"] for one in shown] == pytest.approx([by_depth[2], by_depth[3]])
    assert shown[0]["stack"] == plan_text(profile, found.by_depth[1].plan)
    # A level is worth at least what the last one pays: a stack without it is no better than the best shorter one.
    if len(found.best.plan.levels) == 3 and found.best == found.single:
        assert min(planner.worth(found.best)) >= by_depth[3] / by_depth[2] - 1e-9
