"""The command for the day a GPU is there: its steps end, crash and run late without losing anything; whole over a GPU
that is none."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import families
import pytest

from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.trace import checks, file
from tests.on_gpu.gpu_steps import TOTAL_S, Asked, Step, steps
from tests.on_gpu.kept_steps import LOG, PACKED, SUMMARY, land, read, run_steps
from tests.on_gpu.wheels_beside import found_beside

ROOT = Path(__file__).resolve().parents[2]


def step(out: Path, name: str, code: str, seconds: float = 60.0, makes: bool = True) -> Step:
    made = out / "assets" / "results" / f"{name}.txt"
    return Step(name, seconds, (sys.executable, "-c", f"made = {str(made)!r}\n{code}"), (str(made),) if makes else ())


GOOD = "open(made, 'w').write('figures'); print('well')"


def ended(ran: list[dict[str, Any]]) -> dict[str, str]:
    return {record["step"]: record["ended"] for record in ran}


def test_a_crash_and_a_late_step_lose_nothing_and_are_tried_again_last(tmp_path: Path) -> None:
    found = [
        step(tmp_path, "tests", "import sys; print('1 failed'); sys.exit(1)", makes=False),
        step(tmp_path, "killed", "import os; os.kill(os.getpid(), 9)"),
        step(tmp_path, "late", "import time; time.sleep(60)", seconds=0.5),
        step(tmp_path, "silent", "print('made nothing')"),
        step(tmp_path, "good", GOOD),
    ]
    quiet = {"seconds": 100.0, "tell": lambda *_: None}
    first = run_steps(found, tmp_path, **quiet)
    said = {"tests": "failed", "killed": "crashed", "late": "out of time", "silent": "crashed", "good": "done"}
    assert ended(first) == said
    assert first[-1]["made"] == ["assets/results/good.txt"] and first[-1]["said"] == ["well"]
    again = run_steps([*found, step(tmp_path, "new", GOOD)], tmp_path, **quiet)
    assert [record["step"] for record in again] == ["new", "killed", "late", "silent"], "what ended is skipped"
    assert ended(run_steps(found, tmp_path, again=["good"], **quiet))["good"] == "done"
    assert len(read(tmp_path)) == 5 + 4 + 4
    summary = (tmp_path / SUMMARY).read_text()
    assert "| late | out of time |" in summary and "1 failed" in summary


def test_what_does_not_fit_is_left_for_the_next_call(tmp_path: Path) -> None:
    now = iter([0.0, 0.0, 0.0, 40.0, *[95.0] * 9])
    found = [step(tmp_path, "first", GOOD), step(tmp_path, "second", GOOD)]
    ran = run_steps(found, tmp_path, seconds=100.0, tell=lambda *_: None, clock=lambda: next(now))
    assert ended(ran) == {"first": "done", "second": "left for the next call"}
    assert [record["step"] for record in read(tmp_path)] == ["first"], "a step that did not run has no line"
    (tmp_path / LOG).open("a").write('{"step": "sec')  # cut off
    assert ended(run_steps(found, tmp_path, seconds=100.0, tell=lambda *_: None)) == {"second": "done"}


def test_results_land_where_they_are_read_from_a_folder_or_one_file(tmp_path: Path) -> None:
    out, one, two = (tmp_path / name for name in ("out", "one", "two"))
    run_steps([step(out, "good", GOOD)], out, seconds=100.0, tell=lambda *_: None)
    assert [path.relative_to(one).as_posix() for path in land(out, one)] == ["assets/results/good.txt"]
    (out / PACKED).rename(tmp_path / PACKED)
    assert [path.relative_to(two).as_posix() for path in land(tmp_path / PACKED, two)] == ["assets/results/good.txt"]
    with pytest.raises(ValueError, match="has no results to land"):
        land(tmp_path / "one" / "assets", two)


def test_a_wheel_in_pieces_is_put_together(tmp_path: Path) -> None:
    beside, out = tmp_path / "beside", tmp_path / "out"
    beside.mkdir(), out.mkdir()
    with pytest.raises(ValueError, match="has no wheel"):
        found_beside(beside, out)
    for i, part in enumerate((b"one ", b"two ", b"three")):
        (beside / f"weights-1.0-py3-none-any.whl.{i:02}").write_bytes(part)
    told = found_beside(beside, out)
    assert (out / "wheels" / "weights-1.0-py3-none-any.whl").read_bytes() == b"one two three"
    assert told == {"PIP_FIND_LINKS": f"{beside} {out / 'wheels'}", "PIP_NO_INDEX": "1"}


def test_all_steps_fit_nine_minutes(tmp_path: Path) -> None:
    found = steps(Asked(tmp_path, "nvidia-h100"))
    assert sum(one.seconds for one in found) <= TOTAL_S == 540
    assert [one.name for one in found] == list(NAMES)
    assert str(tmp_path / "assets/profiles/smollm2-cuda-nvidia-h100.json") in found[2].makes


NAMES = ("tests", "passes", "calibrate", "bench", "recordings", "batches", "drafters", "memory")


@pytest.mark.everything
@pytest.mark.timeout(600)
def test_the_whole_command_runs_over_a_gpu_that_is_none(tmp_path: Path) -> None:
    """And what it measured can be read where it lands."""
    target, out, here = families.save(tmp_path / "tiny", "llama-scaled"), tmp_path / "out", tmp_path / "here"
    command = [sys.executable, "-m", "tests.on_gpu", "--out", str(out), "--target", str(target), "--pretend", "--few"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=560)
    assert run.returncode == 0, run.stdout + run.stderr
    assert {record["ended"] for record in read(out)} == {"done"}
    with tarfile.open(out / PACKED) as packed:
        assert {"steps.jsonl", "summary.md", "logs/tests.txt"} <= set(packed.getnames())
    land(out, here)
    profile = shipped_profile("tiny", "cuda", folder=here / "assets" / "profiles")
    assert profile is not None and profile.about["machine"] == "a pretended GPU"
    (bench,) = (here / "assets" / "results").glob("tiny-*/results.json")
    about = json.loads(bench.read_text())["about"]
    assert (about["device"], about["dtype"], about["machine"]) == ("cuda", "bfloat16", "a pretended GPU")
    (load,) = (here / "assets" / "results").glob("tiny-load-*/load.json")
    assert {row["load"] for row in json.loads(load.read_text())["rows"]} == {1, 2}
    traces = sorted((here / "assets" / "traces").glob("*.jsonl.gz"))
    drafters = sorted((out / "drafters").glob("*.jsonl.gz"))
    assert {"eagle3", "dflash", "mtp"} == {path.name.partition("-")[0].partition("@")[0] for path in drafters}
    assert len(traces) == 2 and all(checks.check(file.read(path)) == [] for path in (*traces, *drafters))
