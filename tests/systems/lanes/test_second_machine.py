"""Would a second machine pay: two clocks and never one list; "do not overlap" where that is so, with its numbers."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.tabs.planner.profiles.plan_request import PlannerError
from app.tabs.planner.worker import BroughtQuestions
from hsd_core.cli import main
from hsd_core.systems.lanes import second_machine
from hsd_core.systems.lanes.closed_forms import gain as lock_step_gain
from hsd_core.systems.lanes.second_machine import SecondMachine
from hsd_core.theory import (
    Costs,
    Planner,
    Profile,
    ProfileError,
    ProfileLevel,
    best_plans,
    expected,
    plan_of,
    read_profile,
)
from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.overlap.on_two_lanes import OnTwoLanes, expected_on_lanes

PROFILES = Path(__file__).resolve().parents[3] / "assets" / "profiles"
SHIPPED = sorted(path for path in PROFILES.glob("*.json") if not path.stem.endswith("-validation"))


def profile(share: float, a: float) -> Profile:
    levels = (ProfileLevel("d", Costs.constant(share)), ProfileLevel("t", Costs.constant(1.0)))
    return Profile(levels, ((1.0, a), (0.0, 1.0)))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_profile_gains_by_a_copy_and_loses_by_a_cheap_draft(path: Path) -> None:
    of = read_profile(path)
    found = SecondMachine(of)
    gains = {tuple(of.names[i] for i in one.levels): one.gain for one in found.drafters}
    copies = [gain for names, gain in gains.items() if names[-1] in ("int4", "int8")]
    assert min(copies) > 1.1 and gains["nano",] < 1.0, "nano costs little: it is better finished first"
    assert found.pays and found.best is not None and not found.best.needs
    assert found.one == best_plans(of).best, "what is recommended stays what one machine is best at"


@pytest.mark.parametrize(("share", "a"), [(0.05, 0.6), (0.2, 0.5), (0.4, 0.8), (0.3, 0.9)])
def test_the_map_is_what_one_drafter_of_constant_cost_gains(share: float, a: float) -> None:
    (one,) = SecondMachine(profile(share, a)).drafters
    assert one.share == pytest.approx(share) and one.agreement == a
    gain = one.apart.prediction.ms_per_token / one.lock_step.price.ms_per_token
    assert gain == pytest.approx(lock_step_gain(share, a, 16), rel=1e-3)


def test_the_blocks_are_the_best_ones() -> None:
    of = read_profile(SHIPPED[0])
    found = next(one for one in SecondMachine(of).drafters if of.names[one.levels[-1]] == "int8")
    for best in (found.lock_step, found.free):
        schedule, levels = best.what.schedule, best.what.plan.levels
        every = [
            expected_on_lanes(of, OnTwoLanes(StackPlan(levels, (block,)), schedule)).ms_per_token
            for block in range(1, 9)
        ]
        assert best.price.ms_per_token == pytest.approx(min(every))
    alone = Planner(of.only(found.apart.plan.levels), trees=False).best().best
    assert found.apart.prediction.ms_per_token == pytest.approx(alone.prediction.ms_per_token)


@pytest.mark.parametrize(("share", "a"), [(0.3, 0.7), (0.1, 0.3)])
def test_the_best_block_may_be_shorter_than_where_the_search_begins(share: float, a: float) -> None:
    of = profile(share, a)
    (one,) = SecondMachine(of).drafters
    for best in (one.lock_step, one.free):
        ways = [OnTwoLanes(StackPlan((0, 1), (block,)), best.what.schedule) for block in range(1, of.max_block + 1)]
        assert best.price.ms_per_token == min(expected_on_lanes(of, way).ms_per_token for way in ways)


def test_the_search_for_a_block_goes_both_ways_from_the_plans_and_begins_at_one_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = SecondMachine(profile(0.3, 0.7))
    for ms in ([3, 2, 4, 1, 3, 5], [1, 2, 5, 4, 3, 4]):
        priced = {block: SimpleNamespace(ms_per_token=one) for block, one in enumerate([*ms, *[9] * 10], 1)}
        monkeypatch.setattr(
            second_machine, "expected_on_lanes", lambda of, way, check, by=priced: by[way.plan.blocks[-1]]
        )
        assert machine._best(StackPlan((0, 1), (6,)), "ahead").price.ms_per_token == 1


def test_the_answer_names_its_clock_and_keeps_the_two_apart() -> None:
    of = read_profile(PROFILES / "smollm2-cpu.json")
    said = SecondMachine(of).answer()
    json.dumps(said, allow_nan=False)
    assert said["clock"] == "reckoned" and "@with=" not in said["one"]["stack"] and "@with=" in said["two"]["stack"]
    assert said["gain"] == pytest.approx(said["one"]["ms"] / said["two"]["ms"])
    nano = next(one for one in said["drafters"] if one["name"] == "nano")
    assert nano["needs"] == "nano" and not nano["pearl"]["runs"] and nano["gain"] < 1.0
    assert nano["share"] < nano["pays_between"][0], "why: its token costs less than overlapping pays from"
    for one in said["drafters"]:
        assert expected(of, plan_of(of, one["apart"]["stack"])).ms_per_token == pytest.approx(one["apart"]["ms"])
        assert one["gain"] == pytest.approx(one["apart"]["ms"] / min(one["pearl"]["ms"], one["ahead"]["ms"]))


def test_a_cheap_draft_alone_is_told_not_to_overlap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cheap = SecondMachine(profile(0.05, 0.7))
    assert not cheap.pays and cheap.best is not None
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(profile(0.05, 0.7).as_dict()), encoding="utf-8")
    assert main(["plan", "--profile", str(path), "--overlap"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("best plan: d:6,t\n") and "RECKONED" in said
    assert "do not overlap: the best on two machines" in said


def test_the_command_has_the_answer_beside_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(PROFILES / "smollm2-cpu.json")
    assert main(["plan", "--profile", path, "--overlap", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert "@with=" not in said["stack"] and said["overlap"]["clock"] == "reckoned" and said["overlap"]["pays"]
    assert main(["plan", "--profile", path, "--overlap"]) == 0
    table = capsys.readouterr().out
    assert "a second machine would pay: ngram" in table and "ms per token reckoned" in table
    nano = next(line for line in table.splitlines() if line.startswith("nano "))
    assert "do not overlap" in nano and "cannot run apart" in nano
    assert main(["plan", "--profile", path, "--json"]) == 0
    assert "overlap" not in json.loads(capsys.readouterr().out)


def test_where_nothing_drafts_token_by_token_there_is_no_answer() -> None:
    with pytest.raises(ProfileError, match="drafts token by token"):
        SecondMachine(profile(0.1, 0.5).only((1,)))
    with pytest.raises(PlannerError, match="drafts token by token"):
        BroughtQuestions().answer("second", json.dumps({"profile": profile(0.1, 0.5).only((1,)).as_dict()}))


def test_the_page_s_question_is_answered_with_its_sliders() -> None:
    of = profile(0.2, 0.5)
    question = {"profile": of.as_dict(), "cost": {"level": "d", "factor": 2.0}}
    said = BroughtQuestions().answer("second", json.dumps(question))
    assert said["drafters"][0]["share"] == pytest.approx(0.4)
    assert said["map"]["gains"][0][0] < 1.0
