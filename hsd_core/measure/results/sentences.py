"""What raw results come to, in a sentence of Markdown: figures of prose that are made from files, as tables are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.measure.bench.claim import claim
from hsd_core.measure.bench.side_by_side import Measurement
from hsd_core.measure.bench.summary import sampled
from hsd_core.measure.results.sheet import counted, rounded

if TYPE_CHECKING:
    from hsd_core.measure.validate.report import Report

About = Mapping[str, Any]


def of_bench(about: About, rows: Sequence[dict[str, Any]], measured: Sequence[Measurement]) -> str:
    """The best stack of each number of levels over the target as it is, and what the best gains over the next."""
    found = claim(rows, measured, "target")
    first, *others = found["best"]
    said = [
        f"the best stack of {counted(first['levels'], 'level')} gains {_gain(first)}",
        *(f"of {counted(one['levels'], 'level')} {_gain(one)}" for one in others),
    ]
    if over := found["over"]:
        said.append(f"the first is {over['speed_up']:.2f} ({_interval(over['interval'])}) times as fast as the second")
    return f"- {_on(about, rows)}: {'; '.join(said)}."


def of_stacks(about: About, rows: Sequence[dict[str, Any]], names: Sequence[str] | None) -> str:
    """What some stacks gain over plain decoding, in their order; all that are no plain decoding where names is None.

    Raises:
        ValueError: a name is no stack of the benchmark.
    """
    by = {row["stack"].replace(" ", ""): row for row in rows}
    if missing := [name for name in names or () if name not in by]:
        raise ValueError(f"no stack {missing[0]} was measured; stacks are {', '.join(by)}")
    asked = [by[name] for name in names] if names else [row for row in rows if row["stack"] != row["plain"]]
    return f"- {_on(about, rows)}: gains of {_listed([_gain(row) for row in asked])}."


def of_peers(about: About, rows: Sequence[dict[str, Any]], peers: Sequence[dict[str, Any]]) -> str:
    """tokens/s of other programs, beside our plain decoding of each target and the quickest stack over it."""
    theirs = [f"{one['name']} {rounded(one['tokens_per_s'])}" for one in peers if one["tokens_per_s"]]
    best: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: -row["tokens_per_s"]):
        best.setdefault(row["plain"], row)
    ours = [
        f"`{one}` {rounded(next(row['tokens_per_s'] for row in rows if row['stack'] == one))}, "
        f"`{row['stack']}` {rounded(row['tokens_per_s'])}"
        for one, row in best.items()
    ]
    return f"- {_on(about, rows)}, tokens/s: {_listed([*theirs, 'here ' + ', '.join(ours)])}."


def of_validation(about: About, found: Report, machine: str) -> str:
    """How far predicted speed-ups were off: the median of each sitting, and the worst of all."""
    parts = [part for part in found.parts if part.number is not None]
    off = _listed([f"{part.speed_ups.median:.1%}" for part in parts])
    worst = max(part.speed_ups.worst for part in parts)
    return f"- {machine}, {len(found.rows)} stacks, {about['recorded'][:10]}: {off}; at worst {worst:.1%}."


def _on(about: About, rows: Sequence[Mapping[str, Any]]) -> str:
    """The machine, how many prompts, and the temperature where text was drawn."""
    prompts = counted(max(row["prompts"] for row in rows), "prompt")
    drawn = f", temperature {about['temperature']:g}" if sampled(about) else ""
    return f"{about['machine']}, {prompts}{drawn}"


def _gain(one: Mapping[str, Any]) -> str:
    return f"{one['speed_up']:.2f} ({_interval(one['interval'])}, `{one['stack']}`)"


def _interval(ends: Sequence[float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
