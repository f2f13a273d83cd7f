"""The steps, what is most worth first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TOTAL_S = 540.0  # of a call
TESTS = ("tests/exactness/test_on_cuda.py", "tests/unit/test_replayed.py")
FEW_TESTS = "(exit and tree) or one_seed or (replayed_passes and 3-) or distribution"
MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Step:
    """A process. seconds: after which it is ended. makes: the files that it leaves in DIR, as patterns."""

    name: str
    seconds: float
    command: tuple[str, ...]
    makes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the steps are about. machine: its name as part of file names. target: instead of the preset's.

    pretended: over a GPU that is none; few: as little of everything as shows that it works.
    """

    out: Path
    machine: str
    preset: str = "smollm2"
    target: str | None = None
    pretended: bool = False
    few: bool = False

    @property
    def key(self) -> str:
        """The preset as part of file names."""
        return Path(self.target).name if self.target else self.preset


def steps(asked: Asked) -> list[Step]:
    """In the order of their worth. All seconds together are less than `TOTAL_S`."""
    over = ("--target", asked.target) if asked.target else ("--preset", asked.preset)
    on = (*over, "--device", "cuda")
    profiles, results, traces = (asked.out / "assets" / name for name in ("profiles", "results", "traces"))
    name = f"{asked.key}-{asked.machine}"
    profile, bench = profiles / f"{asked.key}-cuda-{asked.machine}.json", results / name
    passes, memory = results / f"{asked.key}-passes-{asked.machine}", results / f"memory-{name}.json"
    load = results / f"{asked.key}-load-{asked.machine}"
    less = _less(asked.few)
    return [
        Step("tests", 130, _python(asked, "pytest", "-q", "-p", "no:cacheprovider", "-m", "cuda", *less["tests"])),
        Step(
            "passes",
            50,
            _core(asked, "passes", *on, *less["passes"], "--out", str(passes / "levels.jsonl")),
            (str(passes / "levels.jsonl"),),
        ),
        Step(
            "calibrate",
            100,
            _core(asked, "calibrate", *on, "--temperature", "0", "--temperature", "0.8", *less["calibrate"])
            + ("--out", str(profile)),
            (str(profile), str(profile.with_name(f"{profile.stem}-t0.8.json"))),
        ),
        Step(
            "bench",
            90,
            _core(asked, "bench", *on, "--max-new-tokens", less["tokens"][0], *less["bench"]) + ("--out", str(bench)),
            (str(bench / "results.json"), str(bench / "runs.jsonl")),
        ),
        Step(
            "recordings",
            40,
            _core(asked, "record", *(over if asked.target else ()), "--device", "cuda", *less["record"])
            + ("--list", str(_recordings(asked)), "--out", str(traces)),
            (str(traces / "*.jsonl.gz"),),
        ),
        Step(
            "batches",
            60,
            _core(asked, "bench", *on, "--max-new-tokens", less["tokens"][0], *less["batches"]) + ("--out", str(load)),
            (str(load / "load.json"), str(load / "batches.jsonl")),
        ),
        Step(
            "drafters",
            40,
            _python(asked, "tests.on_gpu.gpu_drafters", "--out", str(asked.out / "drafters")),
            (str(asked.out / "drafters" / "*.jsonl.gz"),),
        ),
        Step(
            "memory",
            30,
            _python(asked, "tests.on_gpu.gpu_memory", *over, "--out", str(memory)),
            (str(memory),),
        ),
    ]


def _recordings(asked: Asked) -> Path:
    """The list of recordings: with few tokens where little is asked for."""
    listed = Path("assets/prompts/recordings-gpu.jsonl")
    if not asked.few:
        return listed
    short = asked.out / "recordings-gpu.jsonl"
    lines = listed.read_text(encoding="utf-8").splitlines()
    short.write_text("\n".join(line[:-1] + ', "max_new_tokens": 6}' for line in lines) + "\n", encoding="utf-8")
    return short


def _less(few: bool) -> dict[str, Sequence[str]]:
    if not few:
        every = {"passes": (), "calibrate": (), "record": (), "tokens": (str(MOST_TOKENS),), "tests": TESTS}
        loads = ("--load", "1,8,32", "--turns", "1", "--stacks", "tests/on_gpu/load-stacks.txt", "--prompts", "quick")
        return {**every, "bench": ("--prompts", "quick"), "batches": loads}
    few_prompts = "tests/on_gpu/few-prompts.jsonl"
    few_bench = ("--prompts", few_prompts, "--stacks", "tests/on_gpu/few-stacks.txt")
    return {
        "tests": (TESTS[0], "-k", FEW_TESTS),
        "passes": ("--levels", "ngram,target", "--stack", "ngram:2,target", "--rows", "1,2", "--context", "16")
        + ("--limit", "1", "--max-new-tokens", "4"),
        "calibrate": ("--levels", "ngram,target", "--tokens", "4", "--prompts", few_prompts),
        "bench": (*few_bench, "--raw"),
        "batches": (*few_bench, "--raw", "--load", "1,2", "--turns", "1"),
        "record": ("--repeats", "1"),
        "tokens": ("4",),
    }


def _core(asked: Asked, command: str, *options: str) -> tuple[str, ...]:
    return _python(asked, "hsd_core", command, *options)


def _python(asked: Asked, module: str, *options: str) -> tuple[str, ...]:
    """A module of Python's as a process, perhaps over the pretended GPU."""
    pretended = ("tests.on_gpu.pretended",) if asked.pretended else ()
    return (sys.executable, "-m", *pretended, module, *options)


def named(found: Sequence[Step], again: Sequence[str]) -> Iterator[str]:
    """The names of `again` that no step has."""
    return (name for name in again if name not in {step.name for step in found})
