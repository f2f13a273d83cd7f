"""A level's state in one run that is kept in a lane's process, as the driver has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from hsd_core.engine.lanes.real.asking import AskedLane
from hsd_core.engine.lanes.real.lane_messages import Counted, Heed, Keep, Observe, Score, Scored
from hsd_core.levels.protocol import CommittedIds, Counts, Outcome, Verified, Work
from hsd_core.levels.tree import NOTHING, Tree
from hsd_core.models.context import Context
from hsd_core.models.sampling import OneHot


class RemoteRun:
    """A `LevelRun`; it scores prompts. Drafts and scores of rounds are asked of the lane itself (`Lanes.start`).

    Args:
        level: its index in the stack. heeds: whether it reads the rows that it was judged by.
    """

    def __init__(self, lane: AskedLane, level: int, *, heeds: bool) -> None:
        self._lane, self._level, self._heeds = lane, level, heeds
        self._watched: list[int] = []  # outcomes that it was told, whose counts are not here yet
        self._counts: dict[str, Any] | None = None

    @property
    def cached(self) -> int:
        return self._lane.cached[self._level]

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """See `Scorer.score`."""
        told, tensors, _ = self._lane.answer(self._lane.ask(Score, self._level, list(context), tree.ids))
        assert isinstance(told, Scored)
        return tensors[0], Work(*told.work, told.ran)

    def keep(self, start: int, path: Sequence[int]) -> None:
        """See `LevelRun.keep`; the lane stands."""
        self._lane.answer(self._lane.ask(Keep, self._level, start, tuple(path)))

    def observe(self, outcome: Outcome) -> Counts | None:
        """See `LevelRun.observe`. A lane that is at work hears of it behind that, and its counts come with the next."""
        lane = self._lane
        if isinstance(outcome, CommittedIds):
            self._watched.append(lane.ask(Observe, self._level, list(outcome.ids)))
            while self._watched and (not lane.at_work or lane.is_answered(self._watched[0])):
                told, *_ = lane.answer(self._watched.pop(0))
                assert isinstance(told, Counted)
                self._add(told.counts)
            counts, self._counts = self._counts, None
            return counts
        if isinstance(outcome, Verified) and self._heeds:
            rows = outcome.rows
            tokens, held = (list(rows.ids), rows.like[:0]) if isinstance(rows, OneHot) else (None, rows)
            lane.forget(lane.ask(Heed, self._level, outcome.start, tokens, tensors=[held]))
        return None

    def close(self) -> None:
        """The lane lets go of it when it begins another run, or ends."""

    def _add(self, counts: Counts | None) -> None:
        if counts is None:
            return
        so_far = self._counts or {"inserts": 0, "evictions": 0}
        for name, value in counts.items():
            so_far[name] = so_far[name] + value if name in so_far else value
        self._counts = so_far
