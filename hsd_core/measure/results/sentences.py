"""What raw results come to, in a sentence of Markdown: figures of prose that are made from files, as tables are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.measure.bench.claim import claim
from hsd_core.measure.bench.side_by_side import Measurement
from hsd_core.measure.passes.more_rows import FEW, more_rows
from hsd_core.measure.passes.passes_report import OUTSIDE, WRITTEN
from hsd_core.measure.results.sheet import counted

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
    return f"- {about['machine']}, {max(row['prompts'] for row in rows)} prompts: {'; '.join(said)}."


def of_validation(about: About, found: Report, machine: str) -> str:
    """How far the prediction was off in each sitting."""
    parts = [part for part in found.parts if part.number is not None]
    off = _listed([f"{part.speed_ups.median:.1%}" for part in parts])
    return (
        f"- {machine}, {len(found.rows)} stacks, {about['recorded'][:10]}: speed-ups off by {off} (median of "
        f"{'each' if len(parts) > 1 else 'the'} sitting), {max(part.speed_ups.worst for part in parts):.1%} at worst."
    )


def of_passes(about: About, records: Sequence[Mapping[str, Any]]) -> str:
    """Passes beside the least that they could take, several rows beside one, and what a round spends outside passes."""
    passes = [r for r in records if r["what"] == "pass"]
    least = _by_level((r["level"], r["ms"] / r["least"]["ms"]) for r in passes if r["least"])
    rows = _by_level((one.level, one.ratio) for one in more_rows(records))
    rounds = [r for r in records if r["what"] == "round"]
    outside, written = (
        _range([100 * sum(r[name] for name in part) / r["ms"] for r in rounds], 1) for part in (OUTSIDE, WRITTEN)
    )
    return (
        f"- {about['machine']}, {_range([r['context'] for r in passes], 0)} tokens of text: a pass takes {least} times "
        f"its least; {FEW} rows cost {rows} times one. Drawing and engine take {outside} % of a round, trace and "
        f"stream {written} %."
    )


def _by_level(found: Iterable[tuple[str, float]]) -> str:
    by: dict[str, list[float]] = {}
    for level, figure in found:
        by.setdefault(level, []).append(figure)
    return _listed([f"{_range(figures, 2)} (`{level}`)" for level, figures in by.items()])


def _range(figures: Sequence[float], digits: int) -> str:
    low, high = (f"{end:,.{digits}f}" for end in (min(figures), max(figures)))
    return low if low == high else f"{low} to {high}"


def _gain(one: Mapping[str, Any]) -> str:
    return f"{one['speed_up']:.2f} ({_interval(one['interval'])}, `{one['stack']}`)"


def _interval(ends: Sequence[float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
