"""Profiles that are kept: found again on the same machine, never taken for another's."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hsd_core.cli import main
from hsd_core.core.events import Header
from hsd_core.grammar.stack_text import parse
from hsd_core.measure.calibrate import isolated_costs, profiling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory import Costs, Profile, ProfileLevel, plan_of, read_profile, write_profile
from hsd_core.theory.profiles import profile_store

LEVELS = ("table@id=order1", "table@id=order6")


def profile(temperature=0.0, acceptance=0.5):
    levels = tuple(ProfileLevel(name, Costs.constant(1.0 + i), name) for i, name in enumerate(LEVELS))
    return Profile(levels, ((1.0, acceptance), (0.0, 1.0)), temperature=temperature, about={"much": "text" * 100})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "profiles"


def test_a_kept_profile_is_found_again():
    assert profile_store.cached_profile("toy") is None
    profile_store.store_profile(profile(), "toy", "cpu", PRESETS["toy"].dtype("cpu"))
    assert profile_store.cached_profile("toy") == profile()
    assert profile_store.cached_profile("smollm2") is None


def test_where_nothing_is_kept_nobody_asks_for_the_card(monkeypatch):
    monkeypatch.setattr(
        profile_store.machine, "has_cuda", lambda: True
    )  # whose name takes torch, more than a planner may hold
    monkeypatch.setattr(profile_store.machine, "describe", None)
    assert profile_store.cached_profile("smollm2") is None


def test_another_dtype_machine_or_draft_needs_a_profile_of_its_own(monkeypatch, tmp_path):
    profile_store.store_profile(profile(), "toy", "cpu", "float32")
    assert profile_store.cached_profile("toy", "cpu", "float32") and not profile_store.cached_profile(
        "toy", "cpu", "bfloat16"
    )
    known = profile_store.cache_key(PRESETS["smollm2"], "cpu", "float32")
    assert known["files"] and known["weights"][0][1]  # the drafts' marks and the checksums of the weights
    monkeypatch.setattr(profile_store.machine, "describe", lambda device: "another machine")
    assert profile_store.cached_profile("toy", "cpu", "float32") is None


def test_a_file_that_changes_has_another_mark(tmp_path):
    path = tmp_path / "draft.safetensors"
    path.write_bytes(b"one")
    before = profile_store._mark(path)
    path.write_bytes(b"two")
    assert profile_store._mark(path) != before and profile_store._mark(tmp_path / "none") == ""


def test_the_nearest_temperature_stands_in_but_greedy_never_for_sampled():
    dtype = PRESETS["toy"].dtype("cpu")
    for t, acceptance in ((0.5, 0.4), (1.0, 0.3)):
        profile_store.store_profile(profile(t, acceptance), "toy", "cpu", dtype)
    assert profile_store.cached_profile("toy", temperature=0.6).temperature == 0.5
    assert profile_store.cached_profile("toy", temperature=0.9).temperature == 1.0
    assert profile_store.cached_profile("toy") is None


def test_a_damaged_profile_is_as_good_as_none(folder):
    path = profile_store.store_profile(profile(), "toy", "cpu", PRESETS["toy"].dtype("cpu"))
    path.write_text("{", encoding="utf-8")
    assert profile_store.cached_profile("toy") is None
    assert [p.name for p in folder.iterdir()] == [path.name]  # nothing half-made stays


def test_a_trace_says_which_profile_its_machine_has():
    pipeline = Pipeline.open("toy")
    stack = ",".join(LEVELS)
    run = pipeline.run(stack, "The ", max_new_tokens=2)
    header = next(run)
    assert isinstance(header, Header) and header.profile is None
    profile_store.store_profile(profile(), "toy", pipeline.device, pipeline.dtype)
    header = next(pipeline.run(stack, "The ", max_new_tokens=2))
    assert header.profile["digest"] == profile_store.digest(profile())
    assert header.profile["acceptance"][0][1] == 0.5 and header.profile["about"] == {"source": "measured"}
    assert next(pipeline.run(stack, "The ", max_new_tokens=2, temperature=0.5)).profile is None
    json.dumps(header.profile)


def test_the_digest_follows_every_number():
    assert profile_store.digest(profile()) == profile_store.digest(profile())
    assert profile_store.digest(replace(profile(), round_ms=0.1)) != profile_store.digest(profile())


def test_a_shipped_profile_is_read_where_there_is_one(tmp_path):
    assert profile_store.shipped_profile("toy", folder=tmp_path) is None
    write_profile(profile(), tmp_path / "toy-cuda.json")
    write_profile(profile(0.8), tmp_path / "toy-cuda-t0.8.json")
    assert profile_store.shipped_profile("toy", "cuda:0", folder=tmp_path) == profile()
    assert profile_store.shipped_profile("toy", "cuda:0", 1.0, folder=tmp_path) == profile(0.8)
    assert profile_store.shipped_profile("toy", "cpu", folder=tmp_path) is None


@pytest.mark.parametrize(
    ("here", "taken"),
    [("A, 2 cores", 1.0), ("B with AVX-512, 4 cores", 2.0), ("C with AVX-512, 2 cores", 2.0), ("C, 2 cores", 1.0)],
)
def test_of_several_machines_the_one_most_like_this_is_taken(tmp_path, monkeypatch, here, taken):
    monkeypatch.setattr(profile_store.machine, "describe", lambda device="cpu": here)
    for name, where, costs in (("toy-cpu", "A, 2 cores", 1.0), ("toy-cpu-b", "B with AVX-512, 4 cores", 2.0)):
        write_profile(replace(profile(), round_ms=costs, about={"machine": where}), tmp_path / f"{name}.json")
    assert profile_store.shipped_profile("toy", folder=tmp_path).round_ms == taken


def test_a_machine_of_another_kind_stands_in_where_only_it_was_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(profile_store.machine, "describe", lambda device="cpu": "B with AVX-512, 4 cores")
    write_profile(replace(profile(), about={"machine": "B with AVX-512, 4 cores"}), tmp_path / "toy-cpu-b.json")
    write_profile(replace(profile(0.8), about={"machine": "A, 2 cores"}), tmp_path / "toy-cpu-t0.8.json")
    assert profile_store.shipped_profile("toy", "cpu", 0.8, folder=tmp_path) == replace(
        profile(0.8), about={"machine": "A, 2 cores"}
    )


def test_every_shipped_profile_names_levels_that_its_preset_has():
    for path in profile_store.FOLDER.glob("*.json"):
        if path.stem.endswith("-validation"):  # not a profile: runs that were held against one
            continue
        shipped = read_profile(path)
        if shipped.about.get("simulated"):  # for what-if: nobody has weights for its levels
            continue
        name = shipped.about["preset"]
        assert path.stem.startswith(f"{name}-") and PRESETS[name]
        device = path.stem.removeprefix(f"{name}-").partition("-")[0]
        assert profile_store.shipped_profile(name, device, shipped.temperature) is not None
        assert plan_of(shipped, shipped.levels[-1].spec).levels == (shipped.target,)
        assert all(parse(f"{level.spec},target") for level in shipped.levels[:-1])


@pytest.fixture
def quick(monkeypatch, tmp_path):
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3))):
        monkeypatch.setattr(isolated_costs, name, value)
    monkeypatch.setattr(profiling, "WHOLE", profiling.Effort(runs_s=0.0))
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "The small level ", "category": "a"}\n', encoding="utf-8")
    return ["calibrate", "--preset", "toy", "--tokens", "8", "--prompts", str(path)]


def test_the_command_writes_a_profile_a_temperature(quick, tmp_path, capsys):
    out = tmp_path / "profile.json"
    command = [*quick, "--out", str(out), "--levels", ",".join(LEVELS)]
    assert main([*command, "--temperature", "0", "--temperature", "0.8"]) == 0
    shown, told = capsys.readouterr()
    assert read_profile(out).temperature == 0.0
    assert read_profile(tmp_path / "profile-t0.8.json").temperature == 0.8
    assert "profile-t0.8.json" in told and "not stored as this machine's profile" in told
    assert shown.count("| table@id=order") == 2 and shown.startswith("| level |")
    assert profile_store.cached_profile("toy") is None  # two levels of three, one prompt: no profile of this machine


def test_the_usual_calibration_is_kept(quick, tmp_path, monkeypatch):
    from hsd_core.measure.calibrate import profiling

    asked = []

    def calibrate(pipeline, **options):
        asked.append(options)
        return [replace(profile(), about={"left_out": {"model": "no such weights"}})]

    monkeypatch.setattr(profiling, "calibrate", calibrate)
    assert main(["calibrate", "--preset", "toy", "--out", str(tmp_path / "p.json")]) == 0
    assert profile_store.cached_profile("toy") is not None
    assert asked[0]["levels"] is None and asked[0]["temperatures"] == [0.0]


BAD = {
    "a folder": (["--out", "no/such/folder/p.json"], "name a file in an existing one"),
    "a temperature": (["--temperature", "-1"], "use 0 (greedy)"),
    "levels": (["--levels", "table@id=order1,target"], "its levels are table@id="),
    "prompts": (["--prompts", "no-such-file"], "no-such-file"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_that_names_the_cure(what, tmp_path, capsys):
    options, cure = BAD[what]
    assert main(["calibrate", "--preset", "toy", "--out", str(tmp_path / "p.json"), *options]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ") and cure in error
