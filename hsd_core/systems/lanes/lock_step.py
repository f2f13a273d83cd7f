"""Lanes in lock step: the drafter drafts while the target verifies, and neither starts again before both are done.

A step is one request to each lane (`in_flight`): each is run alone and timed, and both start at the same moment.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from torch import Tensor

from hsd_core.core.driver import PassResult, Sequential
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import DraftOrder
from hsd_core.core.requests import DraftRequest, ScoreRequest
from hsd_core.grammar.strategies import Orders, Scheduler, View
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, likeliest, to_probs
from hsd_core.systems.lanes.in_flight import SimulatedLanes

GREEDY = Sampling()


class LockStep(Sequential):
    """One drafter and the target, step by step. `scheduler` says how much is drafted in a step."""

    def __init__(self, *given: Any, scheduler: Scheduler) -> None:
        super().__init__(*given)
        assert len(self.stack) == 2, "lock step has one drafter"
        self._scheduler, self._lanes = scheduler, SimulatedLanes(self._pass, self.writer.clock)

    def cache_lengths(self, length: int) -> Event:
        """See `Driver.cache_lengths`; of the target only: the drafter's follows when its tokens are judged."""
        return self._kv((1,), length)

    def _ordered(self, undecided: int, room: int) -> Orders:
        """The scheduler's orders for this step."""
        view = View(
            undecided=undecided,
            submitted=0,
            drafting=False,
            verifying=False,
            drafted=0,
            block=self.stack[0].block or 0,
            room=room,
            silent=False,
        )
        return self._scheduler.ended(view)

    def _asked(self, hierarchy: Hierarchy, line: Context, limit: int) -> DraftRequest:
        """The request for at most `limit` drafted tokens behind a text."""
        asked = next(hierarchy.pull(0, line, limit))
        assert isinstance(asked, DraftRequest)
        return asked

    def _together(self, verify: ScoreRequest, draft: DraftRequest | None) -> tuple[PassResult, PassResult | None]:
        """The results of both lanes in this step; the clock is set to the end of the longer one."""
        lanes = self._lanes
        lanes.start(verify)
        if draft is None:
            return lanes.ended().done, None
        lanes.start(draft)
        done = {request.level: passed for request, passed in (lanes.ended(), lanes.ended())}
        return done[1], done[0]

    def _settle(self, start: int, slots: Sequence[int], length: int) -> Generator[Event, None, None]:
        """Cut the drafter's cache behind the first `start` tokens to these slots. length: of the text and all undecided
        tokens."""
        run = self.runs[0]
        before = run.cached
        if before > start:
            run.keep(start, slots)
            if run.cached < before:
                yield self.writer.rollback(0, before, run.cached)
        yield self._kv((0,), length)


def naming(order: DraftOrder) -> DraftOrder:
    """The same order, but the drafter names its likeliest tokens and draws none."""

    def rows(logits: Tensor) -> Tensor:
        order.sampler.check(logits)
        return to_probs(logits, GREEDY)

    return order.drawing(greedy=True, to_probs=rows, pick=lambda row, *place: int(likeliest(row[None])[0]))
