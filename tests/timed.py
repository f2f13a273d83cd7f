"""Toy levels that take time on a clock of their own, as long as a test says: also by the tokens that they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from torch import Tensor
from toys import toy_stack

from hsd_core.core.clock import EngineClock
from hsd_core.core.level import DraftOrder, Proposal, StackEntry, Work
from hsd_core.core.tree import Tree
from hsd_core.levels.shared import SharedState
from hsd_core.models.context import Context
from hsd_core.systems.cross.cross_level import CrossLevel
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel, NgramRun
from hsd_core.systems.table.table_level import TableLevel, TableRun

Duration = Callable[[int, tuple[int, ...]], int]  # (level, what it reads) -> ns of a pass


class Hand:
    """The time, which only passes move on."""

    ns = 0

    def now(self) -> int:
        return self.ns


class TimedLevel(TableLevel):
    def open(self, capacity: int, shared: object) -> TableRun:
        run = TimedRun(self.table, self.name)
        run.spend = self.spend  # type: ignore[attr-defined]
        return run


class TimedRun(TableRun):
    spend: Callable[[tuple[int, ...]], None]

    def _scored(self, context: Context, tree: Tree, rows: int) -> tuple[Tensor, Work]:
        self.spend((*context, *tree.ids))
        return super()._scored(context, tree, rows)


class TimedLookup(NgramLevel):
    """Lookups in what was written so far, by keys of one to four tokens."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__(lambda: Databases("c", reach={"c": LookupLimits(1, 4)}), vocab_size)

    def open(self, capacity: int, shared: SharedState) -> NgramRun:
        run = TimedLookupRun(self._databases())
        run.spend = self.spend  # type: ignore[attr-defined]
        return run


class TimedLookupRun(NgramRun):
    spend: Callable[[tuple[int, ...]], None]

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        self.spend(tuple(context))
        return super().propose(context, order)


def timed_stack(
    text: str, vocab_size: int, duration: Duration, seed: int = 0, **options: float
) -> tuple[list[StackEntry], EngineClock]:
    """A toy stack whose passes take `duration`, and the clock that they move on."""
    return on_clock(toy_stack(text, vocab_size, seed, **options), duration)


def on_clock(stack: Sequence[StackEntry], duration: Duration) -> tuple[list[StackEntry], EngineClock]:
    """A stack over tables with passes that take `duration`, and real lookups for its `ngram`; the clock that they move
    on."""
    hand, entries = Hand(), []
    for i, entry in enumerate(stack):

        def spend(ids: tuple[int, ...], i: int = i) -> None:
            hand.ns += duration(i, ids)

        entries.append(replace(entry, level=_timed(entry, spend)))
    return entries, EngineClock(hand.now)


def _timed(entry: StackEntry, spend: Callable[[tuple[int, ...]], None]) -> Any:
    level: Any = entry.level
    if isinstance(level, CrossLevel):
        timed: Any = copy(level)
        timed.inner = TimedLevel(level.inner.table, level.inner.vocab_size, name=level.name)  # type: ignore[attr-defined]
        timed.inner.spend = spend
        return timed
    lookups = entry.spec.name == "ngram"
    made: Any = TimedLookup(level.vocab_size) if lookups else TimedLevel(level.table, level.vocab_size, name=level.name)
    made.spend = spend
    return made
