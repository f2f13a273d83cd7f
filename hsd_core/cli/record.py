"""`record`: real runs of a list of prompts and stacks, beside plain decoding: the traces that the page replays.

An entry with `whatif` in place of preset, stack and prompt is a simulated run, and its trace says so.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hsd_core import trace
from hsd_core.cli.options import command, progress
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.typed import records

_KEYS = {"temperature", "top_k", "top_p", "seed", "max_new_tokens", "raw", "depths", "replan"}
_NEEDED = {"name", "title"}
_REAL = {"preset", "stack", "prompt"}


def add(commands: Any) -> None:
    parser = command(commands, "record", "record the runs that the page replays", act)
    parser.add_argument(
        "--list", required=True, metavar="FILE", help="JSON lines: name, title, and preset, stack, prompt or whatif"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="one NAME.jsonl.gz a run; those there are kept")


def act(options: argparse.Namespace) -> int:
    wanted = _read(options.list)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    pipelines: dict[str, Pipeline] = {}
    for entry in wanted:
        path = folder / f"{entry['name']}.jsonl.gz"
        if path.exists():
            continue
        if "whatif" in entry:
            events = _simulated(entry)
        else:
            if entry["preset"] not in pipelines:
                pipelines.clear()  # one preset's weights at a time
                pipelines[entry["preset"]] = Pipeline.open(entry["preset"], progress=progress())
            events = _real(entry, pipelines[entry["preset"]])
        wrong = check(events)
        if wrong:
            raise RuntimeError(f"{entry['name']}: the trace does not add up: {wrong[0]}")
        tracefile.write(path, events)
        ratio = metrics.speed_up(events)
        print(f"{path.name}: speed-up {ratio:.2f}" if ratio else path.name, file=sys.stderr, flush=True)
    return 0


def _real(entry: dict[str, Any], pipeline: Pipeline) -> list[trace.Event]:
    settings = {k: v for k, v in entry.items() if k in _KEYS}
    # The first run warms up kernels and caches for this stack; the second one is kept.
    for _ in pipeline.run(entry["stack"], entry["prompt"], **{**settings, "max_new_tokens": 16}):
        pass
    return list(pipeline.run(entry["stack"], entry["prompt"], baseline=True, title=entry["title"], **settings))


def _simulated(entry: dict[str, Any]) -> list[trace.Event]:
    """The best plan of a what-if profile, or the `stack` of its levels' names."""
    from hsd_core.theory import best_plans
    from hsd_core.whatif.playing import DEFAULT_TOKENS, plan_named, play
    from hsd_core.whatif.profiles import whatif_profile

    profile = whatif_profile(entry["whatif"])
    plan = plan_named(profile, entry["stack"]) if "stack" in entry else best_plans(profile).best.plan
    tokens = entry.get("max_new_tokens", DEFAULT_TOKENS)
    header, *rest = play(profile, plan, seed=entry.get("seed", 0), max_new_tokens=tokens)
    assert isinstance(header, trace.Header)
    return [replace(header, title=entry["title"]), *rest]


def _read(path: str) -> list[dict[str, Any]]:
    """The list of runs; a line that lacks a field is refused."""
    entries = []
    for where, entry in records(path, dict[str, Any], "a JSON object"):
        missing = (_NEEDED if "whatif" in entry else _NEEDED | _REAL) - entry.keys()
        if missing:
            raise ValueError(f"{where}: {sorted(missing)[0]!r} is missing")
        if Path(entry["name"]).name != entry["name"]:
            raise ValueError(f"{where}: name {entry['name']!r} is no file name")
        entries.append(entry)
    return entries
