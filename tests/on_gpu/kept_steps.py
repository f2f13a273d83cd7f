"""Steps as processes, and what is kept of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.on_gpu.gpu_steps import Step

LOG, SUMMARY, PACKED = "steps.jsonl", "summary.md", "results.tar.gz"
DONE, FAILED, CRASHED, LATE, LEFT = "done", "failed", "crashed", "out of time", "left for the next call"
LEAST_S = 5.0  # in which no step is begun
TAIL = 6  # lines of a step's log in the summary
Record = dict[str, Any]


def run_steps(
    found: Sequence[Step],
    out: Path,
    *,
    seconds: float,
    again: Sequence[str] = (),
    tell: Callable[[str], None] = print,
    clock: Callable[[], float] = time.monotonic,
) -> list[Record]:
    """Run the steps that have not ended, one after another, and write down each as it ends.

    A step that ended well, or whose tests failed, is skipped unless `again` names it. One that crashed or ran out of
    time is tried again, behind those that never ran. What does not fit into the seconds is left for the next call.
    """
    known = {record["step"]: record for record in read(out)}
    over = [step for step in found if step.name in again or known.get(step.name, {}).get("ended") not in (DONE, FAILED)]
    over.sort(key=lambda step: known.get(step.name, {}).get("ended") in (CRASHED, LATE))  # stable: else by worth
    ends, ran = clock() + seconds, list[Record]()
    for step in over:
        left = ends - clock()
        if left < max(LEAST_S, min(step.seconds, 0.4 * step.seconds)):
            ran.append({"step": step.name, "ended": LEFT, "took_s": 0.0})
            tell(f"{step.name}: {LEFT} ({left:.0f} s are left)")
            continue
        record = _run(step, out, min(step.seconds, left), clock)
        with (out / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        ran.append(record)
        tell(f"{step.name}: {record['ended']} in {record['took_s']:.0f} s")
        summarise(found, out)
    summarise(found, out)
    pack(out)
    return ran


def read(out: Path) -> list[Record]:
    """What ran, in order; a line that was cut off is passed over."""
    path, found = out / LOG, list[Record]()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _run(step: Step, out: Path, seconds: float, clock: Callable[[], float]) -> Record:
    log = out / "logs" / f"{step.name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    for pattern in step.makes:
        Path(pattern).parent.mkdir(parents=True, exist_ok=True)
    began = clock()
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            step.command, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:  # with all that it started
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    made = [path for pattern in step.makes for path in _matching(pattern)]
    ended = LATE if code is None else DONE if code == 0 else FAILED if code == 1 and step.name == "tests" else CRASHED
    if ended == DONE and len(made) < len(step.makes):
        ended = CRASHED
    return {
        "step": step.name,
        "ended": ended,
        "code": code,
        "took_s": round(clock() - began, 1),
        "limit_s": round(seconds, 1),
        "made": [str(path.relative_to(out)) for path in made],
        "said": log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL:],
    }


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    return sorted(path.parent.glob(path.name))


def summarise(found: Sequence[Step], out: Path) -> Path:
    """Write what ran as Markdown: a row a step, then the last lines that each said."""
    known = {record["step"]: record for record in read(out)}
    lines = ["# On a GPU", "", "| step | ended | s | of | left |", "|---|---|---|---|---|"]
    for step in found:
        one = known.get(step.name, {"ended": "not yet run", "took_s": 0.0, "made": []})
        cells = (step.name, one["ended"], f"{one['took_s']:.0f}", f"{step.seconds:.0f}", ", ".join(one["made"]) or "-")
        lines.append("| " + " | ".join(cells) + " |")
    for name, one in known.items():
        lines += ["", f"## {name}", "", "```", *one.get("said", []), "```"]
    path = out / SUMMARY
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def pack(out: Path) -> Path:
    """All that was kept, in one file."""
    path = out / PACKED
    with tarfile.open(path, "w:gz") as packed:
        for name in (LOG, SUMMARY, "logs", "assets", "drafters"):
            if (out / name).exists():
                packed.add(out / name, arcname=name)
    return path


def land(kept: Path, repository: Path) -> list[Path]:
    """Copy the results of a folder, or of its one file, to where page, README and Results read theirs.

    Raises:
        ValueError: there are none.
    """
    if kept.is_file():
        beside = kept.with_suffix("").with_suffix("")
        with tarfile.open(kept) as packed:
            packed.extractall(beside, filter="data")
        kept = beside
    source = kept / "assets"
    if not source.is_dir():
        raise ValueError(f"{kept} has no results to land; name the folder of --out, or its {PACKED}")
    landing = (path for path in _files(source) if path.suffix != ".html")  # pages with a script of their own stay
    return [_put(path, repository / path.relative_to(kept)) for path in landing]


def _files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _put(path: Path, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)
    return to
