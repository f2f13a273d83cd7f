"""What a study of exits counts, prices and draws: against counts and plans made by hand."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny import tiny

from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.exits import study_tables
from hsd_core.systems.exits.depths import Agreements, DepthReading, lens_agreement
from hsd_core.systems.exits.exit_costs import (
    AGREEMENTS,
    PAPER,
    ExitCosts,
    Setting,
    exit_profile,
    fitted,
    fitted_share,
    reached,
    sweep,
    time_passes,
    two_over_one,
)
from hsd_core.theory import Costs, Profile, ProfileLevel, StackPlan, expected, read_profile
from hsd_core.theory.search.planner import best_block_lengths

ROOT = Path(__file__).resolve().parents[3]
STUDY = ROOT / "assets" / "results" / "early-exits" / "depth.jsonl"


def reading(top: list[list[int]], at: tuple[int, ...] = (1, 2, 4)) -> DepthReading:
    ids = torch.tensor(top)
    return DepthReading(at, ("lens",) * len(at), len(at) - 1, torch.zeros(ids.shape), ids, torch.zeros(ids.shape))


def test_what_two_exits_agree_on_is_counted_position_by_position_over_all_texts() -> None:
    texts = [reading([[1, 2, 3, 4], [1, 2, 9, 4], [1, 2, 3, 7]]), reading([[5], [6], [6]])]
    counts = Agreements(3)
    for one in texts:
        counts.add(one)
    found = {(r["draft"][0], r["verifier"][0]): (r["accepts"], r["kept"]) for r in counts.records(texts[0])}
    assert found == {(1, 2): (3 / 5, 0.66667), (1, 4): (3 / 5, 1.0), (2, 4): (3 / 5, 1.0)}
    assert [r["verifier"] for r in counts.records(texts[0])][-1] == [4, "last"]


def test_a_draft_that_no_verifier_agrees_with_keeps_nothing() -> None:
    counts = Agreements(3)
    counts.add(one := reading([[1], [2], [3]]))
    assert [(r["accepts"], r["kept"]) for r in counts.records(one)] == [(0.0, None)] * 3


def costs(layers: int = 8) -> ExitCosts:
    rows = (1, 2, 4, 8)
    return ExitCosts(layers, rows, np.array([0.2, 0.2, 0.3, 0.4]), np.array([1.0, 1.1, 1.3, 1.7]), np.full(4, 0.5))


def test_a_verifier_runs_on_every_row_only_what_the_exit_below_it_left() -> None:
    made = costs()
    assert made.drafts(3)(1) == pytest.approx(0.2 + 3 * 1.0 + 0.5)
    assert made.verifies(8, 3)(4) == pytest.approx(0.3 + 3 * 1.0 + 5 * 1.3 + 0.5)
    assert made.verifies(8, 3)(1) == pytest.approx(made.drafts(8)(1))


def test_costs_at_every_depth_are_the_line_through_the_timed_ones() -> None:
    made = costs()
    records = [
        {"what": "cost", "at": at, "rows": n, "ms": float(made.base[k] + at * made.layer[k]) if at else 0.5}
        for (k, n), at in itertools.product(enumerate(made.rows), (0, 2, 4, 8))
    ]
    found, off = fitted(records)
    assert off < 1e-9 and found.layers == 8
    for name in ("base", "layer", "head"):
        assert getattr(found, name) == pytest.approx(getattr(made, name))


def test_passes_are_timed_at_every_depth_and_leave_the_cache_as_it_was() -> None:
    records = time_passes(tiny(), list(range(40)), (2, 4), rows=(1, 3), repeats=3)
    assert [(r["at"], r["rows"]) for r in records] == [(0, 1), (0, 3), (2, 1), (2, 3), (4, 1), (4, 3)]
    assert all(0 < r["interval"][0] <= r["ms"] <= r["interval"][1] for r in records)


def test_the_sweep_has_every_stack_of_one_and_of_two_exits_each_at_its_best_lengths() -> None:
    made = costs(4)
    stacks = [*sweep(made, lambda below, above: 0.7)]
    assert [(r["draft"], r["above"]) for r in stacks] == [(1, None), (1, 2), (1, 3), (2, None), (2, 3), (3, None)]
    two = stacks[1]
    profile = exit_profile(made, (1, 2), lambda below, above: 0.7)
    own = expected(profile, StackPlan((0, 1, 2), tuple(two["blocks"]))).speedup
    assert two["speed_up"] == pytest.approx(own, rel=0.02), "but for the rows that catch up"
    for blocks in itertools.product((1, 2, 5), (1, 3, 9)):
        assert expected(profile, StackPlan((0, 1, 2), blocks)).speedup <= two["speed_up"] * 1.01


def today(inner: float = 0.68, upper: float = 0.61, alone: float = 0.5) -> Setting:
    profile = read_profile(ROOT / "assets" / "profiles" / "smollm2-cpu-avx512.json")
    exits = {profile.index("exit@at=4"): 4, profile.index("exit@at=8"): 8}
    return Setting(profile.levels[-1].cost, (4, 8), 30, fitted_share(profile, exits, 30), inner, upper, alone)


def test_the_layers_share_gives_the_profile_s_own_exits_back() -> None:
    whole = Costs.constant(20.0)
    levels = [ProfileLevel(f"e{at}", Costs.constant(20.0 * (0.1 + 0.9 * at / 30))) for at in (4, 8)]
    matrix = ((1.0, 0.5, 0.5), (0.0, 1.0, 0.5), (0.0, 0.0, 1.0))
    made = Profile((*levels, ProfileLevel("target", whole)), matrix)
    assert fitted_share(made, {0: 4, 1: 8}, 30) == pytest.approx(0.9)
    shipped, own = read_profile(ROOT / "assets" / "profiles" / "smollm2-cpu-avx512.json"), today().profile()
    for i, name in enumerate(("exit@at=4", "exit@at=8")):
        assert own.levels[i].cost(1) == pytest.approx(shipped.levels[shipped.index(name)].cost(1), rel=0.03)


def test_two_exits_beat_one_only_where_the_upper_one_is_nearly_always_right() -> None:
    two, one = two_over_one(today().profile())
    assert two < one, "here and now"
    two, one = two_over_one(today(0.9, 0.95, 0.9 * 0.95).profile())
    assert two > one
    ideal = today(0.9, 0.98, 0.9 * 0.98)
    assert two_over_one(ideal.profile())[0] / two_over_one(ideal.profile())[1] < PAPER
    two, one = two_over_one(ideal.profile(1.0, ideal=True))
    assert two / one >= PAPER - 0.01


def test_acceptances_move_along_by_the_same_share_of_their_misses() -> None:
    moved = today(0.6, 0.5, 0.2).moved(0.75)
    assert (moved.inner, moved.upper, moved.alone) == pytest.approx((0.8, 0.75, 0.6))


@pytest.mark.parametrize(
    ("z", "level", "found"),
    [([0.5, 1.5, 2.0], 1.0, 0.5), ([2, 0.5, 1.5], 1.0, 1.5), ([1, 2, 0.9], 1.0, None), ([1.0, 1.0, 1.0], 1.0, 0.0)],
)
def test_a_level_is_reached_from_where_the_row_stays_above_it(
    z: list[float], level: float, found: float | None
) -> None:
    assert reached([0.0, 1.0, 2.0], z, level) == found


# The study that is shipped


def shipped_of(said: str) -> Profile:
    """The profile of a study, by its machine and day."""
    found = [
        read_profile(path)
        for path in sorted((ROOT / "assets" / "profiles").glob("smollm2-cpu*.json"))
        if not path.stem.endswith("-validation")
    ]
    return next(p for p in found if not p.temperature and f"{p.about['machine']}, {p.about['recorded']}" == said)


@pytest.fixture(scope="module")
def shipped() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if not STUDY.exists():
        pytest.skip("no study is shipped")
    return read_raw(STUDY)


def test_the_shipped_sweep_is_what_its_own_passes_and_agreements_give(shipped) -> None:
    _, records = shipped
    timed = [r for r in records if r["what"] == "cost"]
    pairs = [r for r in records if r["what"] == "pair"]
    found = {(r["draft"], r["above"]): r for r in records if r["what"] == "stack"}
    fit, agrees = fitted(timed)[0], lens_agreement(pairs)
    for depths in ((1,), (8,), (29,), (4, 8), (2, 27), (28, 29)):
        gain, blocks = best_block_lengths(exit_profile(fit, depths, agrees), tuple(range(len(depths) + 1)))
        kept = found[depths[0], depths[1] if len(depths) > 1 else None]
        assert (kept["speed_up"], kept["blocks"]) == (pytest.approx(gain, abs=1e-3), list(blocks))


def test_the_shipped_maps_are_what_the_shipped_profile_gives(shipped) -> None:
    about, records = shipped
    (told,) = (r for r in records if r["what"] == "today")
    low, high = told["depths"]
    profile = shipped_of(about["profile"])
    exits = {profile.index(f"exit@at={at}"): at for at in (low, high)}
    share = fitted_share(profile, exits, about["layers"])
    assert share == pytest.approx(told["share"], abs=1e-3)
    here = Setting(
        profile.levels[-1].cost, (low, high), about["layers"], share, told["inner"], told["upper"], told["alone"]
    )
    assert two_over_one(here.profile()) == pytest.approx((told["two"], told["one"]), abs=1e-3)
    rows = {(r["map"], r["costs"], r["y"]): r for r in records if r["what"] == "needed"}
    for y, x in ((0.6, 0.4), (0.88, 0.92), (0.96, 0.99)):
        at = AGREEMENTS.index(x)
        there = here.accepting(y, x, x * y)
        for costs, s, ideal in (("measured", None, False), ("ideal", 1.0, True)):
            two, one = two_over_one(there.profile(s, ideal=ideal))
            assert rows["one", costs, y]["z"][at] == pytest.approx(two / one, abs=1e-3)
        gain, _ = best_block_lengths(here.moved(x).profile(y), (0, 1, 2))
        assert rows["plain", "measured", y]["z"][at] == pytest.approx(gain, abs=1e-3)


def test_the_recursion_gives_the_measured_runs_of_exits_back(shipped) -> None:
    """Within the interval of each run, or a sixth of it: costs are of another hour."""
    _, records = shipped
    runs = {r["stack"]: r for r in records if r["what"] == "run"}
    predicted = [r for r in records if r["what"] == "predicted"]
    assert len(predicted) >= 3 and any(r["stack"].count(",") == 2 for r in predicted)
    for r in predicted:
        low, high = runs[r["stack"]]["interval"]
        assert low <= r["speed_up"] <= high or abs(r["speed_up"] / r["measured"] - 1) < 1 / 6, r


def test_every_view_of_the_shipped_study_has_rows(shipped) -> None:
    for name, table in study_tables.TABLES.items():
        assert table(shipped[1]).count("\n") > 2, name
