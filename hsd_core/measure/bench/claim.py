"""What a benchmark says in a sentence: what each number of levels gains at best, whether the best number is more than
chance, who loses, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hsd_core.measure.bench.side_by_side import Measurement
from hsd_core.measure.bench.summary import interval, speed_up
from hsd_core.measure.results.on_clock import OnClock

Row = dict[str, Any]


def best_by_levels(rows: Iterable[Row], plain: str) -> list[Row]:
    """The fastest stack of each number of levels over one target, fastest first; `rows` as `summary` gives them."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["plain"] == plain:
            best.setdefault(levels(row["stack"]), row)
    return sorted(best.values(), key=lambda row: -row["tokens_per_s"])


def levels(stack: str) -> int:
    """How many levels a stack has."""
    return stack.count(",") + 1


def claim(rows: Sequence[Row], measured: Sequence[Measurement], plain: str) -> dict[str, Any]:
    """The claim of a benchmark over one target.

    Args:
        rows: as `summary` gives them; those on a clock that is named are no part of the claim. measured: what they were
            made of. plain: plain decoding of the target.
    Returns:
        `best`: of each number of levels but plain decoding, fastest first; `over`: what the first of them gains over
        the second on the same prompts, with its 95 % interval, or None; `loses`: the stacks whose whole interval is
        below plain decoding, slowest first. Of a stack `tokens` come from one round, which takes as long as `passes`
        of plain decoding: its speed-up is the one over the other.
    """
    rows = [row for row in rows if not OnClock.read(row["stack"]).clock]
    best = [row for row in best_by_levels(rows, plain) if row["stack"] != plain]
    loses = [row for row in rows if row["plain"] == plain and row["interval"][1] < 1.0]
    return {
        "best": [_entry(row) for row in best],
        "over": _over(best[0]["stack"], best[1]["stack"], measured) if len(best) > 1 else None,
        "loses": [_entry(row) for row in reversed(loses)],
    }


def _entry(row: Row) -> dict[str, Any]:
    tokens, gain = row["tokens_per_target_forward"], row["speed_up"]
    return {
        "stack": row["stack"],
        "levels": levels(row["stack"]),
        "speed_up": gain,
        "interval": row["interval"],
        "tokens": tokens,
        "passes": tokens / gain,
    }


def _over(stack: str, other: str, measured: Sequence[Measurement]) -> dict[str, Any]:
    own, beside = ({run.prompt: run for run in measured if run.stack == name} for name in (stack, other))
    pairs = [(own[i], beside[i]) for i in sorted(own.keys() & beside.keys())]
    return {"speed_up": speed_up(pairs), "interval": interval(pairs)}
