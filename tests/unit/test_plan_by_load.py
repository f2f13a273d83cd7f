"""Plans by load: each against brute force over the costs at that load, and `plan --load`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from brute_force import every_plan
from profiles import flat, random_profile

from app.tabs.planner.load_map import answer, measured_under_load
from hsd_core.cli import main
from hsd_core.measure.whatif import whatif_profile
from hsd_core.theory import Costs, Profile, ProfileError, best_plans, write_profile
from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.theory.profiles.under_load import under_load, with_joint
from hsd_core.theory.search.by_load import LOADS as LOADS_SHOWN
from hsd_core.theory.search.by_load import plans_by_load, with_joint_passes

LOADS = 1, 2, 4, 8, 16


def dear(*, joint: bool = False) -> Profile:
    """Eight rows are almost free, and each further one is dear; `joint`: the target's are free in joint passes."""
    made = flat((1, 4, 32), 0.8, 0.7, 0.9, max_block=8)
    levels = [
        replace(level, spec=spec, cost=Costs((1, 8, 64), (ms, 1.1 * ms, 8.8 * ms)))
        for level, spec, ms in zip(made.levels, ("int4", "int8", "target"), (1.0, 4.0, 32.0), strict=True)
    ]
    profile = replace(made, levels=tuple(levels))
    same = Costs((1, 8), (32.0, 32.0))
    return with_joint(profile, {"target": {1: same, 8: same}}) if joint else profile


def test_each_load_has_the_best_of_all_plans_over_its_costs():
    rng = np.random.default_rng(3)
    for size in (2, 3, 3):
        made = random_profile(rng, size, steep=True, max_block=6)
        levels = [replace(x, cost=Costs((1, 9, 64), (*x.cost.ms, 6 * x.cost.ms[-1]))) for x in made.levels]
        profile = replace(made, levels=tuple(levels))
        for row in plans_by_load(profile, LOADS):
            plans = every_plan(under_load(profile, row.load))
            assert -1e-9 < row.best.prediction.ms_per_token / min(plans.values()) - 1 < 0.005
            plain = next(ms for plan, ms in plans.items() if not plan.blocks)
            assert row.best.prediction.speedup == pytest.approx(plain / row.best.prediction.ms_per_token)


def test_one_request_has_the_plan_without_load():
    profile = dear(joint=True)
    (row,) = plans_by_load(profile, [1])
    assert row.answer == best_plans(profile) and not (row.measured or row.computed or row.left)
    assert plans_by_load(profile, [1], depth=2)[0].answer == best_plans(profile, depth=2)


def test_levels_drop_out_as_rows_fill_the_pass():
    rows = plans_by_load(dear(), [16, *LOADS])
    assert [row.load for row in rows] == [*LOADS]
    gains = [row.best.prediction.speedup for row in rows]
    assert gains == sorted(gains, reverse=True) and gains[0] > 2.0 and gains[-1] == 1.0
    assert len(rows[0].best.plan.levels) == 3 and rows[-1].best.plan.levels == (2,)
    assert sorted(level for row in rows for level in row.left) == [0, 1]
    for at, row in enumerate(rows):
        assert not any({*row.left} & {*later.best.plan.levels} for later in rows[at:])


def test_where_rows_are_free_nothing_drops_out():
    rows = plans_by_load(flat((1, 4, 32), 0.8, 0.7, 0.9, max_block=8), LOADS)
    assert len({row.best.plan for row in rows}) == 1 and not any(row.left for row in rows)
    assert [row.tokens_per_s for row in rows] == pytest.approx([n * rows[0].tokens_per_s for n in LOADS])


def test_measured_joint_passes_are_what_is_planned_over():
    computed, measured = (plans_by_load(dear(joint=joint), [4, 8]) for joint in (False, True))
    assert [(row.measured, row.computed) for row in measured] == [((), (0, 1, 2)), ((2,), (0, 1))]
    assert measured[0].answer == computed[0].answer, "no joint pass of four was measured"
    assert measured[1].best.prediction.speedup > computed[1].best.prediction.speedup
    for wrong in ([], [0], [10**5]):
        with pytest.raises(ProfileError):
            plans_by_load(dear(), wrong)


def test_joint_passes_are_the_profiles_own_or_those_shipped_for_the_most_similar_machine(tmp_path: Path) -> None:
    about = {"preset": "smollm2", "device": "cpu", "machine": "here with AVX-512"}
    own, measured = replace(dear(), about=about), dear(joint=True)
    assert with_joint_passes(own, tmp_path) == (own, None)
    assert with_joint_passes(measured, tmp_path) == (measured, measured)
    for name, machine in (("", "there"), ("-avx512", "elsewhere with AVX-512")):
        write_profile(replace(measured, about={**about, "machine": machine}), tmp_path / f"smollm2-cpu{name}.json")
    over, source = with_joint_passes(own, tmp_path)
    assert source is not None and source.about["machine"] == "elsewhere with AVX-512"
    assert over == replace(own, levels=measured.levels), "costs and acceptances stay its own"
    for other in ({"simulated": True}, {"preset": "toy"}, {"device": "cuda"}):
        assert with_joint_passes(replace(own, about={**about, **other}), tmp_path)[1] is None


def test_the_page_has_the_rows_of_the_plans_by_load() -> None:
    found = answer(dear(joint=True))
    rows = plans_by_load(dear(joint=True), LOADS_SHOWN)
    assert [row["load"] for row in found["rows"]] == [*LOADS_SHOWN] and found["passes"] is not None
    for made, row in zip(found["rows"], rows, strict=True):
        assert (made["rate"], made["speedup"]) == (row.tokens_per_s, row.best.prediction.speedup)
        assert made["rate"] / made["plain"] == pytest.approx(made["speedup"])
        assert [made["blocks"], len(made["left"])] == [[*row.best.plan.blocks], len(row.left)]
    assumed = answer(whatif_profile("phone"))
    assert assumed["passes"] is None and assumed["rows"][-1]["load"] == 256
    assert assumed["rows"][-1]["levels"] == ["Llama 3B"], "a phone's rows are dear: plain decoding is left"
    assert all(len(row["computed"]) == len(assumed["levels"]) for row in assumed["rows"])


def test_what_ran_under_load_stands_beside_of_the_most_similar_machine(tmp_path: Path) -> None:
    about = {"preset": "smollm2", "machine": "here with AVX-512"}
    assert measured_under_load(about, tmp_path) is None
    row = dict.fromkeys(("stack", "load", "sum", "speed_up", "interval", "predicted_sum", "predicted_speed_up"), 1)
    for name, machine in (("a", "there"), ("b", "elsewhere with AVX-512")):
        whole = {"about": {**about, "machine": machine}, "rows": [{**row, "each": 2, "passes": []}], "runs": []}
        (tmp_path / name).mkdir()
        (tmp_path / name / "load.json").write_text(json.dumps(whole), encoding="utf-8")
    found = measured_under_load(about, tmp_path)
    assert found == {"about": {"machine": "elsewhere with AVX-512", "recorded": ""}, "rows": [row]}
    assert measured_under_load({**about, "preset": "toy"}, tmp_path) is None


def test_the_command_says_from_which_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path))
    path = tmp_path / "profile.json"
    write_profile(dear(joint=True), path)
    assert main(["plan", "--profile", str(path), "--load", "1,8,16"]) == 0
    out = capsys.readouterr().out
    assert "best by requests at once" in out and f"predicted from the profile {path}; joint passes of m2 were" in out
    assert main(["plan", "--load", "32,1", "--levels", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    shipped = shipped_profile("smollm2")
    assert shipped is not None and shipped.about["machine"] in found["load"]["costs"]
    first, last = found["load"]["rows"]
    assert first["stack"] == found["stack"] and first["load"] == 1 and first["measured"] == []
    assert last["tokens_per_s"] > first["tokens_per_s"] and last["speedup"] < first["speedup"]
    assert main(["plan", "--load", "1,x"]) == 2 and "numbers of requests from 1" in capsys.readouterr().err
    assert main(["plan", "--preset", "toy"]) == 2 and "no profile of toy" in capsys.readouterr().err
