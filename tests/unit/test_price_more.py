"""What the tower is told of levels that a machine's own profile leaves out: the price by another that holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.tabs.planner.price import Priced, Prices
from hsd_core.grammar import kinds
from hsd_core.theory import Costs, Profile, ProfileLevel, plan_of, write_profile
from hsd_core.theory.latency.recursion import expected

CLIMB = ProfileLevel("climb@at=4-8", Costs((1, 2, 4), (3.0, 5.0, 8.0)), "climb@at=4-8", 0.7, (1.0, 0.8))


def profile(*levels: ProfileLevel, machine: str = "a test") -> Profile:
    n = len(levels)
    told = {"preset": "smollm2", "device": "cpu", "machine": machine, "recorded": "2026-01-01", "context": 150}
    accepts = tuple(tuple(0.6 if i < j else float(i == j) for j in range(n)) for i in range(n))
    return Profile(levels, accepts, 16, about=told)


def level(spec: str, ms: float) -> ProfileLevel:
    return ProfileLevel(spec, Costs((1, 9), (ms, 1.3 * ms)), spec)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shipped: one profile of usual levels, one of others, one over a store."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "nothing"))
    root = tmp_path / "profiles"
    for name in ("named", "store"):
        (root / name).mkdir(parents=True)
    write_profile(profile(level("int8", 10.0), level("target", 20.0)), root / "smollm2-cpu.json")
    named = profile(CLIMB, level("skip", 9.0), level("target", 22.0), machine="another test")
    write_profile(named, root / "named" / "smollm2-cpu.json")
    write_profile(profile(level("cached", 21.0), level("target@knn=store", 25.0)), root / "store" / "smollm2-cpu.json")
    return root


def priced(folder: Path, *stacks: str, **more: Any) -> dict[str, Any]:
    return Prices(folder).answer(Priced("smollm2", stacks, "cpu", **more))


def test_each_stack_is_priced_by_the_first_profile_that_holds_it(folder: Path) -> None:
    stacks = ("int8:4,target", "climb:2@at=4-8,skip:4,target", "cached:3,target@knn=store")
    found = priced(folder, *stacks)
    assert found["about"]["machine"] == "a test" and "about" not in found["prices"][0]
    named = profile(CLIMB, level("skip", 9.0), level("target", 22.0))
    wanted = expected(named, plan_of(named, stacks[1]))
    assert found["prices"][1]["ms"] == pytest.approx(wanted.ms_per_token)
    assert found["prices"][1]["speedup"] == pytest.approx(wanted.speedup), "over plain decoding of its own profile"
    assert found["prices"][1]["about"]["machine"] == "another test"
    store = profile(level("cached", 21.0), level("target@knn=store", 25.0))
    assert found["prices"][2]["ms"] == pytest.approx(expected(store, plan_of(store, stacks[2])).ms_per_token)


def test_what_none_holds_is_refused_as_the_first_profile_does(folder: Path) -> None:
    (alone,) = priced(folder, "climb:2@at=4-8,int8:4,target")["prices"]
    assert "its levels are int8, target" in alone["reason"] and "about" not in alone
    assert "calibrate --preset smollm2 --levels climb@at=4-8,int8,target --out FILE measures it" in alone["reason"]
    (sampled,) = priced(folder, "climb:2@at=4-8,target", temperature=1.0)["prices"]
    assert "reason" in sampled, "greedy acceptances say nothing of sampled runs"


def test_a_plan_holds_no_level_that_the_profile_has_as_a_draft_alone(folder: Path) -> None:
    named = profile(level("skip", 9.0), CLIMB, level("target", 22.0))
    write_profile(named, folder / "named" / "smollm2-cpu.json")
    (price,) = priced(folder, "skip:4,climb:2@at=4-8,target")["prices"]
    assert "reason" in price


def test_the_kinds_that_are_measured_only_where_they_are_named() -> None:
    told = {name for name, kind in kinds().items() if kind.planning.named}
    assert told == {"self", "skip", "climb", "cross", "cached", "suffix", "view"}
