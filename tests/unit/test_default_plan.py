"""The default stack by machine: what a profile makes of a preset's, which profile that is, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.tabs.planner.profiles.sources import said
from hsd_core.cli import main
from hsd_core.core.driver import Stopped
from hsd_core.core.events import Header
from hsd_core.measure.calibrate import isolated_costs, profiling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory import Costs, Planner, Profile, ProfileLevel, plan_of, read_profile
from hsd_core.theory.profiles import profile_store
from hsd_core.theory.profiles.profile import ACCEPTANCES_FROM, with_acceptances_of
from hsd_core.theory.search import default_stack
from hsd_core.theory.search.default_stack import DefaultStack, PlanPrediction, default_plan, with_default
from hsd_core.trace.file import read

OWN = "ngram:3,int8:6,target"
SHIPPED = [path for path in sorted(profile_store.FOLDER.glob("smollm2-cpu*.json")) if "-validation" not in path.stem]
TOY = PRESETS["toy"].default_stack
TABLES = ("table@id=order1", "table@id=order3", "table@id=order6")


def made_up(middle_ms: float = 4.0, middle: float = 0.95, spread: float = 0.005) -> Profile:
    """The toy's tables with other costs; every acceptance lies within `spread`."""
    levels = tuple(
        ProfileLevel(name, Costs.constant(ms), name) for name, ms in zip(TABLES, (0.2, middle_ms, 20.0), strict=True)
    )
    matrix = ((1.0, 0.6, 0.6), (0.0, 1.0, middle), (0.0, 0.0, 1.0))
    ends = tuple(
        tuple((max(0.0, a - spread), min(1.0, a + spread)) if j > i else None for j, a in enumerate(row))
        for i, row in enumerate(matrix)
    )
    return Profile(
        levels, matrix, interval=ends, about={"preset": "toy", "machine": "a machine", "recorded": "2026-01-02"}
    )


@pytest.fixture(autouse=True)
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing was kept yet, and whose defaults are planned."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HSD_DEFAULT")
    return tmp_path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_of_every_shipped_profile_the_default_is_the_best_plan_of_the_presets_levels(path: Path) -> None:
    profile = read_profile(path)
    if any(level not in profile.names for level in ("ngram", "int8", "target")):
        assert default_plan(profile, OWN) is None
        return
    found = default_plan(profile, OWN)
    assert found is not None and found.promise.two is not None and found.promise.interval is not None
    planner = Planner(profile, trees=False, catch_up=True)
    ours, own = (planner.ranked(plan_of(profile, stack)).prediction for stack in (found.stack, OWN))
    assert ours.ms_per_token <= own.ms_per_token and found.promise.speedup == pytest.approx(ours.speedup)
    for moved in ("ngram:1,int8:4,target", "ngram:5,int8:9,target", "ngram:2,int8:6,target", "ngram:2,int4:5,target"):
        assert planner.ranked(plan_of(profile, moved)).prediction.ms_per_token >= ours.ms_per_token
    two, speedup = found.promise.two
    assert planner.ranked(plan_of(profile, two)).prediction.speedup == pytest.approx(speedup)
    assert found.promise.gain == pytest.approx(ours.speedup / speedup)
    low, high = found.promise.interval
    assert low < found.promise.gain < high


def test_a_level_stands_only_where_the_profile_does_not_say_that_it_costs_more_than_it_gives() -> None:
    pays, loses = (default_plan(made_up(ms), TOY) for ms in (4.0, 19.0))
    assert pays is not None and pays.stack.count(",") == 2 and pays.promise.gain is not None
    assert loses is not None and loses.stack.count(",") == 1 and "order3" not in loses.stack
    assert loses.promise.gain is None and loses.promise.two is None
    # Where chance may say otherwise the preset's levels stay.
    doubtful = default_plan(made_up(19.0, spread=0.4), TOY)
    assert doubtful is not None and doubtful.stack.count(",") == 2


def test_what_a_stack_says_beside_its_lengths_stays_and_what_no_plan_has_is_not_planned() -> None:
    profile = made_up()
    said = default_plan(profile, TOY)
    assert said is not None and all(name in said.stack for name in ("id=order1", "id=order3", "id=order6"))
    for other in (
        "table:2@id=order1@policy=confidence,table@id=order6",
        "table:2@id=order1,table@id=order6@bonus=0",
        "ngram:2,table@id=order6",
    ):
        assert default_plan(profile, other) is None


def test_the_shipped_profile_of_the_machine_most_like_this_one_plans_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stacks = {}
    for machine in ("AMD EPYC, 2 cores", "AMD EPYC with AVX-512, 2 cores", "Intel Xeon with AVX-512, 4 cores"):
        monkeypatch.setattr(profile_store.machine, "describe", lambda device, name=machine: name)
        default_stack._planned.cache_clear()
        found = default_stack.default_for_machine(PRESETS["smollm2"], "cpu")
        assert found.source == profile_store.SHIPPED and found.sentence.endswith("(nearest shipped)")
        stacks[machine] = found.stack
    plain, ours, intel = stacks.values()
    assert plain != ours and intel == ours, "the instructions of the kernels decide, not the maker"
    default_stack._planned.cache_clear()


def test_what_was_measured_here_goes_before_what_is_shipped_and_the_long_before_the_quick() -> None:
    toy = PRESETS["toy"]
    assert default_stack.default_for_machine(toy).sentence == "block lengths as the preset has them"
    quick = replace(made_up(4.0), about={**made_up().about, "effort": profile_store.QUICK})
    profile_store.store_profile(quick, "toy", "cpu", toy.dtype("cpu"))
    found = default_stack.default_for_machine(toy)
    assert (found.stack, found.source) == (default_plan(quick, TOY).stack, profile_store.MEASURED)  # type: ignore[union-attr]
    assert found.sentence == "the fastest by the 20-second calibration of 2026-01-02 (this machine)"
    assert profile_store.cached_profile("toy") is None, (
        "predictions of other stacks need more levels than the quick one has"
    )
    profile_store.store_profile(made_up(19.0), "toy", "cpu", toy.dtype("cpu"))
    whole = default_stack.default_for_machine(toy)
    assert whole.stack.count(",") == 1 and "the calibration of 2026-01-02 (this machine)" in whole.sentence


def test_where_the_environment_says_so_a_default_is_the_presets_own_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSD_DEFAULT", "preset")
    pinned = default_stack.default_for_machine(PRESETS["smollm2"], "cpu")
    assert pinned == DefaultStack(OWN, default_stack.PINNED)
    assert pinned.summary == "block lengths as the preset has them, as HSD_DEFAULT=preset asks"
    assert DefaultStack(OWN).summary == "block lengths as the preset has them"


def test_the_catalogue_names_the_stack_as_written_and_says_where_it_comes_from() -> None:
    profile_store.store_profile(made_up(), "toy", "cpu", PRESETS["toy"].dtype("cpu"))
    entry = next(one for one in Pipeline.catalogue() if one["name"] == "toy")
    assert entry["default_stack"] == entry["default"]["stack"] != TOY == entry["preset_stack"]
    assert entry["default"]["source"] == profile_store.MEASURED and entry["default"]["promise"]["gain"] > 1
    own = {one.name for one in PRESETS["toy"].stacks if one.stack == TOY}
    assert {one["name"] for one in entry["stacks"] if one["stack"] == entry["default_stack"]} == own
    assert with_default(entry, PRESETS["toy"]) == entry, "twice is as good as once"


def test_a_promise_is_told_with_its_interval() -> None:
    told = DefaultStack(
        OWN, profile_store.SHIPPED, {}, PlanPrediction(1.72, ("int8:6,target", 1.52), 1.13, (1.09, 1.17))
    ).promised
    assert told == "predicted: 1.72 times plain decoding, 1.13 (1.09 to 1.17) times the best two levels, int8:6,target"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3))):
        monkeypatch.setattr(isolated_costs, name, value)
    quick = profiling.Effort(texts=2, tokens=8, batch=1, texts_s=0.0, costs_s=0.0, runs_s=0.0)
    monkeypatch.setattr(profiling, "QUICKLY", quick)
    monkeypatch.setattr(profiling, "COSTS_ALONE", quick)


@pytest.mark.usefixtures("hasty")
def test_the_quick_calibration_is_kept_and_default_means_what_it_plans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--preset", "toy", "--quick"]) == 0
    shown = capsys.readouterr().out
    found = default_stack.default_for_machine(PRESETS["toy"])
    assert found.about["effort"] == profile_store.QUICK and f"default stack {found.stack}: {found.sentence}" in shown
    trace = tmp_path / "run.jsonl"
    for asked in ([], ["--stack", "default"]):
        assert (
            main(
                ["generate", "--preset", "toy", "--prompt", "The small", "--tokens", "4", "--trace", str(trace), *asked]
            )
            == 0
        )
        header = next(event for event in read(trace) if isinstance(event, Header))
        assert header.stack == found.stack and header.profile["about"]["planned"] == found.summary
        assert f"default stack: {found.summary}" in capsys.readouterr().err
    assert main(["models"]) == 0
    assert found.sentence in capsys.readouterr().out


@pytest.mark.usefixtures("hasty")
def test_where_a_shipped_profile_knows_the_levels_only_costs_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = made_up(middle=0.91)
    monkeypatch.setattr(profiling, "shipped_profile", lambda preset, device: shipped if preset == "toy" else None)
    assert main(["calibrate", "--preset", "toy", "--quick"]) == 0
    assert "acceptances from the shipped profile (a machine, 2026-01-02)" in capsys.readouterr().out
    found = profile_store.quick_profile("toy")
    assert found is not None and found.names == TABLES
    assert (found.acceptance, found.interval) == (shipped.acceptance, shipped.interval)
    assert found.levels[-1].cost(1) != shipped.levels[-1].cost(1)
    assert found.about[ACCEPTANCES_FROM] == {"machine": "a machine", "recorded": "2026-01-02"}
    note = said(found.about)
    assert note.endswith("acceptances of the shipped profile (a machine, 2026-01-02)")


def test_acceptances_are_taken_over_by_name_and_only_of_the_same_levels() -> None:
    ours, shipped = made_up(7.0, middle=0.5), made_up(middle=0.91)
    swapped = replace(ours, levels=ours.levels[1:], acceptance=((1.0, 0.5), (0.0, 1.0)), interval=None)
    part = with_acceptances_of(swapped, shipped)
    assert part is not None and part.acceptance == ((1.0, 0.91), (0.0, 1.0)) and part.levels == swapped.levels
    assert with_acceptances_of(ours, swapped) is None, "it lacks a level"
    assert with_acceptances_of(ours, replace(shipped, temperature=0.8)) is None
    lookup = replace(shipped, levels=(replace(shipped.levels[0], hit_rate=0.4), *shipped.levels[1:]))
    assert with_acceptances_of(ours, lookup) is None, "a lookup is asked, a drafter drafts"


@pytest.mark.usefixtures("hasty")
def test_one_that_is_stopped_keeps_nothing() -> None:
    with pytest.raises(Stopped):
        profiling.calibrate_default(Pipeline.open("toy"), stop=lambda: True)
    assert profile_store.quick_profile("toy") is None


@pytest.mark.parametrize("more", [["--levels", "table@id=order6"], ["--tokens", "4"], ["--temperature", "1"]])
def test_what_the_quick_calibration_does_not_take_is_refused(
    more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--preset", "toy", "--quick", *more]) == 2
    assert f"leave {more[0]} or --quick out" in capsys.readouterr().err


def test_a_calibration_needs_a_file_unless_it_is_quick(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--preset", "toy"]) == 2
    assert "--out names the file" in capsys.readouterr().err
