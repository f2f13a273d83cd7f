"""The measurement behind the command `passes`, as plain records: what a file keeps and every table is made of.

    {"what": "pass", "level", "context", "rows", "ms", "parts", "profiled_ms", "least"}    parts, least: null where none
    {"what": "lookup", "level", "context", "ms", "filed_ms"}
    {"what": "database", "level", "stored", "ms"}         a database of so many n-grams that are made up
    {"what": "round", "stack", "context", "ms", "passes", "calls", "drawing", "engine", "trace", "stream", "bare_ms"}

All figures of rounds are ms (calls: counts) of one round on average; `context` is null for the prompts as they are.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.measure.calibrate.reading import is_lookup
from hsd_core.measure.passes.limits import Limits, least, measured_limits
from hsd_core.measure.passes.parts import parted
from hsd_core.measure.passes.rounds import time_rounds
from hsd_core.measure.passes.timing import Cell, Timed, time_lookups, time_passes, work_of
from hsd_core.models.compiled.profile import Profile
from hsd_core.stacks.grammar import bare, format_stack, parse

if TYPE_CHECKING:
    from hsd_core.levels.entry import StackEntry
    from hsd_core.pipeline import Pipeline

Record = dict[str, Any]
Tell = Callable[[str, float, float], None]


def fitting(lengths: Sequence[int], rows: Sequence[int], room: int | None) -> list[int]:
    """The lengths, shortest first; one that fills the whole context is cut by what stands behind it.

    Args:
        room: positions of the context; None for no bound.
    Raises:
        ValueError: one is longer than the context.
    """
    if room is None:
        return sorted(set(lengths))
    if (longest := max(lengths)) > room:
        raise ValueError(f"a text of {longest} tokens is longer than the context of {room}; use at most {room}")
    most = room - max(rows)
    if most < 1:
        raise ValueError(f"{max(rows)} rows leave no room for a text in the context of {room}; use fewer rows")
    return sorted({min(length, most) for length in lengths})


def text_of(prompts: Sequence[Sequence[int]], tokens: int) -> list[int]:
    """So many ids: the prompts, again and again."""
    return list(islice(cycle([token for prompt in prompts for token in prompt]), tokens))


def measure_levels(
    pipeline: Pipeline,
    profiled: Callable[[Profile], Pipeline],
    stack: str,
    text: Sequence[int],
    lengths: Sequence[int],
    rows: Sequence[int],
    *,
    tell: Tell,
) -> tuple[Limits, list[Record]]:
    """The machine's limits, before and after, and passes and lookups of every level of a stack.

    Args:
        profiled: opens the same levels anew, with a profile.
    """
    entries, names = pipeline.entries(stack), names_of(stack)
    with tempfile.TemporaryDirectory(prefix="hsd-passes-") as folder:
        profile = Profile(Path(folder))
        again = profiled(profile).entries(stack)
        limits, told = measured_limits(), partial(tell, "passes")
        times = time_passes(entries, again, profile, text, lengths, rows, tell=told)
        del again
    limits, records = limits.best(measured_limits()), list[Record]()
    for i, entry in enumerate(entries):
        for length in sorted(lengths):
            about = {"level": names[i], "context": length}
            if is_lookup(entry.level):
                ms, filed_ms = time_lookups(entry, text, length)
                records.append({"what": "lookup", **about, "ms": ms, "filed_ms": filed_ms})
                continue
            for n in rows:
                cell = (i, length, n)
                records.append({"what": "pass", **about, "rows": n, **_taken(entry, cell, times[cell], limits)})
    return limits, records


def _taken(entry: StackEntry, cell: Cell, timed: Timed, limits: Limits) -> Record:
    ms = statistics.median(timed.ms)
    if not timed.kernels or (work := work_of(entry.level, *cell[1:])) is None:
        return {"ms": ms, "parts": None, "profiled_ms": None, "least": None}
    parts, products = parted(ms, timed.kernels)
    bound = least(limits, work.bytes_read, products + work.attended, integers=work.integers)
    return {
        "ms": ms,
        "parts": parts,
        "profiled_ms": statistics.median(timed.profiled_ms),
        "least": {"read_ms": bound.read_ms, "multiply_ms": bound.multiply_ms, "ms": bound.ms, "binds": bound.binds},
    }


def measure_rounds(
    pipeline: Pipeline, stack: str, prompts: Sequence[Sequence[int]], tokens: int, *, context: int | None = None
) -> Record:
    """Rounds of a stack on prompts of the length `context`, whose texts have no end, or on these as they are."""
    entries = pipeline.entries(stack)
    given = prompts if context is None else [text_of(prompts, context)]
    ends = pipeline.ends if context is None else frozenset[int]()  # what stands behind a cut text may end at once
    found = time_rounds(entries, given, pipeline.tokenizer, tokens=tokens, ends=ends)
    each = max(1, found.rounds)
    parts = {name: getattr(found, name) / each for name in ("drawing", "engine", "trace", "stream", "bare_ms")}
    return {
        "what": "round",
        "stack": stack,
        "levels": names_of(stack),
        "context": context,
        "rounds": found.rounds,
        "tokens": found.tokens,
        "ms": found.ms / each,
        "passes": [ms / each for ms in found.passes],
        "calls": [calls / each for calls in found.calls],
        **parts,
    }


def names_of(stack: str) -> list[str]:
    """The levels of a stack as one writes them, without T, rule and policy."""
    return [format_stack([bare(spec)]) for spec in parse(stack)]
