"""A level's pass, over and over at one place of a text: what it takes, alone or beside another lane."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns

from hsd_core.levels.protocol import LevelRun, scorer
from hsd_core.levels.tree import named
from hsd_core.models.context import Context


def looped(run: LevelRun, ids: Sequence[int], rows: int, seconds: float) -> list[float]:
    """ms of every pass of `rows` rows at the end of `ids`, which go on for so many seconds, and for three passes at
    least. The first ones of all are part of it: medians do not mind."""
    at = len(ids) - rows
    run.keep(min(run.cached, at), ())
    if run.cached < at:
        scorer(run).score(Context(ids[:at]))
    context, tree = Context(ids[: at + 1]), named(ids[at + 1 :])
    found: list[float] = []
    end = perf_counter_ns() + int(1e9 * seconds)
    while (began := perf_counter_ns()) < end or len(found) < 3:
        scorer(run).score(context, tree)
        found.append((perf_counter_ns() - began) / 1e6)
        run.keep(at, ())
    return found
