"""`record`: runs a list of prompts and stacks, each with plain decoding: the traces that the page replays.

An entry with `whatif` in place of preset, stack and prompt is a simulated run, and its trace says so. The page compares
recordings, so those of one machine have to be from one sitting: each is run several times, and the times of plain
decoding in the chosen runs are compared at the end.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hsd_core.cli.options import counts, option, reads, writes
from hsd_core.cli.shared_options import command, progress
from hsd_core.core import events as trace
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import preset_of
from hsd_core.stacks.targets import preset_chosen
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.typed import records

_KEYS = {"temperature", "top_k", "top_p", "seed", "max_new_tokens", "raw", "depths", "replan", "heads"}
_REQUIRED = {"name", "title"}
_REAL = {"preset", "stack", "prompt"}
LONG = 512  # tokens of a prompt: after more of them a pass takes longer
UNEVEN = 1.35  # times of plain decoding in recordings of one sitting differ by less


def add(commands: Any) -> None:
    parser = command(commands, "record", "record the runs that the page replays", act)
    reads(parser, "--list FILE", "JSON lines: name, title, and preset, stack, prompt or whatif", required=True)
    writes(parser, "--out DIR", "one NAME.jsonl.gz per run; existing ones are kept", folder=True, required=True)
    option(parser, "--target ID", "run with this target instead of the presets of the list")
    option(parser, "--device D", "cpu, cuda, ... (default: an accelerator if there is one)")
    counts(parser, "--repeats N", "runs of each; the one with the median speed-up is kept (default 3)", default=3)


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
            over = options.target or entry["preset"]
            if over not in pipelines:
                pipelines.clear()  # only one preset's weights at a time
                preset = preset_chosen(entry["preset"], target=options.target)
                pipelines[over] = Pipeline.open(preset, device=options.device, progress=progress())
            events = _middle(entry, pipelines[over], options.repeats)
        wrong = check(events)
        if wrong:
            raise RuntimeError(f"{entry['name']}: the trace does not add up: {wrong[0]}")
        tracefile.write(path, events)
        ratio = metrics.speed_up(events)
        print(f"{path.name}: speed-up {ratio:.2f}" if ratio else path.name, file=sys.stderr, flush=True)
    for line in uneven([tracefile.read(path) for path in sorted(folder.glob("*.jsonl.gz"))]):
        print(line, file=sys.stderr)
    return 0


def uneven(runs: Sequence[Sequence[trace.Event]]) -> list[str]:
    """A line for each run whose plain decoding took unusually long or short for its target and machine."""
    alike: dict[tuple[str, str, int], list[tuple[str, float]]] = defaultdict(list)
    for events in runs:
        header, plain_ms = metrics.header_of(events), metrics.plain_ms(events)
        if plain_ms is not None and not header.simulated:
            top = header.levels[-1]
            store = " and a store" if "places" in top.params else ""  # its queries take time too
            target = f"{header.preset} {top.kind} {top.dtype}{store}"
            alike[header.machine, target, len(header.prompt_ids) // LONG].append((header.title, plain_ms))
    found = []
    for (machine, target, _), timed in alike.items():
        middle = statistics.median(ms for _, ms in timed)
        found += [
            f"{title}: plain decoding of {target} took {ms:.1f} ms a token, mostly {middle:.1f} on {machine}; "
            "remove its file and record it again while the machine is quiet"
            for title, ms in timed
            if not 1 / UNEVEN < ms / middle < UNEVEN
        ]
    return found


def _middle(entry: dict[str, Any], pipeline: Pipeline, repeats: int) -> list[trace.Event]:
    """Of several runs the one with the median speed-up."""
    runs = [_real(entry, pipeline) for _ in range(repeats)]
    return sorted(runs, key=lambda events: metrics.speed_up(events) or 0.0)[repeats // 2]


def _real(entry: dict[str, Any], pipeline: Pipeline) -> list[trace.Event]:
    settings = {k: v for k, v in entry.items() if k in _KEYS}
    # the first run warms up kernels and caches for this stack; the second one is returned
    for _ in pipeline.run(entry["stack"], entry["prompt"], **{**settings, "max_new_tokens": 16}):
        pass
    return list(pipeline.run(entry["stack"], entry["prompt"], baseline=True, title=entry["title"], **settings))


def _simulated(entry: dict[str, Any]) -> list[trace.Event]:
    """The best plan of a what-if profile, or the `stack` of its levels' names."""
    from hsd_core.measure.whatif import whatif_profile
    from hsd_core.measure.whatif.simulation import DEFAULT_TOKENS, plan_named, play
    from hsd_core.theory import best_plans

    profile = whatif_profile(entry["whatif"])
    plan = plan_named(profile, entry["stack"]) if "stack" in entry else best_plans(profile).best.plan
    tokens = entry.get("max_new_tokens", DEFAULT_TOKENS)
    header, *rest = play(profile, plan, seed=entry.get("seed", 0), max_new_tokens=tokens)
    assert isinstance(header, trace.Header)
    return [replace(header, title=entry["title"]), *rest]


def _check(entry: dict[str, Any]) -> None:
    """Refuses what a run would refuse, before the first run of the list.

    Raises:
        ValueError, TypeError: see `Pipeline.run`.
    """
    if "whatif" in entry:
        return
    preset_of(entry["preset"])
    parse(entry["stack"])
    Sampling(**{name: entry[name] for name in ("temperature", "top_k", "top_p") if name in entry})
    if not entry.get("max_new_tokens", 1) >= 1:
        raise ValueError(f"max_new_tokens is {entry['max_new_tokens']}; use at least 1")


def _read(path: str) -> list[dict[str, Any]]:
    """The list of runs; a line that lacks a field is refused."""
    entries = []
    for where, entry in records(path, dict[str, Any], "a JSON object"):
        missing = (_REQUIRED if "whatif" in entry else _REQUIRED | _REAL) - entry.keys()
        if missing:
            raise ValueError(f"{where}: {sorted(missing)[0]!r} is missing")
        if Path(entry["name"]).name != entry["name"]:
            raise ValueError(f"{where}: name {entry['name']!r} is not a file name")
        try:
            _check(entry)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: {error}") from None
        entries.append(entry)
    return entries
