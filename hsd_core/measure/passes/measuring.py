"""The measurement behind the command `passes`, as plain records: what a file keeps and every table is made of.

    {"what": "pass", "level", "context", "rows", "ms", "parts", "profiled_ms", "least"}    parts, least: null where none
    {"what": "lookup", "level", "context", "ms", "filed_ms"}
    {"what": "database", "level", "stored", "ms"}         a database of so many n-grams that are made up
    {"what": "round", "stack", "context", "ms", "passes", "calls", "drawing", "engine", "trace", "stream", "bare_ms"}

All figures of rounds are ms (calls: counts) of one round on average; `context` is null for the prompts as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.measure.calibrate.reading import is_lookup
from hsd_core.measure.passes.limits import Limits, least
from hsd_core.measure.passes.parts import parted
from hsd_core.measure.passes.rounds import Rounds, time_rounds
from hsd_core.measure.passes.stored import time_databases
from hsd_core.measure.passes.timing import Cell, profile_passes, time_lookups, time_passes, work_of
from hsd_core.models.compiled.profile import Profile

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
    limits: Limits,
    *,
    tell: Tell,
) -> Iterator[Record]:
    """Passes and lookups of every level of a stack.

    Args:
        profiled: opens the same levels anew, with a profile.
    """
    entries = pipeline.entries(stack)
    names = names_of(stack)
    times = time_passes(entries, text, lengths, rows, tell=lambda done, all_: tell("passes", done, all_))
    with tempfile.TemporaryDirectory(prefix="hsd-passes-") as folder:
        profile = Profile(Path(folder))
        again = profiled(profile).entries(stack) if times else []
        kernels = profile_passes(again, text, lengths, rows, profile) if times else {}
        del again
    for i, entry in enumerate(entries):
        for length in sorted(lengths):
            if is_lookup(entry.level):
                found = time_lookups(entry, text, length)
                yield {
                    "what": "lookup",
                    "level": names[i],
                    "context": length,
                    "ms": found.ms,
                    "filed_ms": found.filed_ms,
                }
                continue
            for n in rows:
                cell = (i, length, n)
                yield {
                    "what": "pass",
                    "level": names[i],
                    "context": length,
                    "rows": n,
                    "ms": times[cell],
                    **_parts(entry, cell, times[cell], kernels, limits),
                }


def _parts(entry: StackEntry, cell: Cell, ms: float, kernels: dict[Cell, Any], limits: Limits) -> Record:
    if cell not in kernels or (work := work_of(entry.level, *cell[1:])) is None:
        return {"parts": None, "profiled_ms": None, "least": None}
    profiled_ms, passes = kernels[cell]
    parts, products = parted(ms, passes)
    bound = least(limits, work.bytes_read, products + work.attended, integers=work.integers)
    return {
        "parts": parts,
        "profiled_ms": profiled_ms,
        "least": {"read_ms": bound.read_ms, "multiply_ms": bound.multiply_ms, "ms": bound.ms, "binds": bound.binds},
    }


def measure_rounds(
    pipeline: Pipeline, stack: str, prompts: Sequence[Sequence[int]], tokens: int, *, context: int | None = None
) -> Record:
    """Rounds of a stack on prompts of the length `context`, or on these as they are."""
    entries = pipeline.entries(stack)
    given = prompts if context is None else [text_of(prompts, context)]
    found = time_rounds(entries, given, pipeline.tokenizer, tokens=tokens, ends=pipeline.ends)
    return _round(found, stack, context)


def _round(found: Rounds, stack: str, context: int | None) -> Record:
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


def measure_databases(stored: int) -> Iterator[Record]:
    """Lookups in databases of so many n-grams."""
    for letter, ms in time_databases(stored).items():
        yield {"what": "database", "level": f"ngram@db={letter}", "stored": stored, "ms": ms}


def names_of(stack: str) -> list[str]:
    """The levels of a stack as one writes them, without T, rule and policy."""
    from hsd_core.stacks.grammar import bare, format_stack, parse

    return [format_stack([bare(spec)]) for spec in parse(stack)]
