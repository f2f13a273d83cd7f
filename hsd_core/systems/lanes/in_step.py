"""Lanes that meet: the drafter's level drafts while the target verifies, and neither starts again before both are done.

A step is one request to each lane (`under_way`): both are run alone and timed, from the same moment on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from torch import Tensor

from hsd_core.core.driver import PassResult, Sequential
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import DraftOrder, LevelRun
from hsd_core.core.requests import DraftRequest, ScoreRequest
from hsd_core.core.writer import TraceWriter
from hsd_core.grammar.strategies import Orders, Scheduler, View
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, likeliest, to_probs
from hsd_core.systems.lanes.under_way import Reckoned

GREEDY = Sampling()


class InStep(Sequential):
    """A drafter of one level beside the target, step by step. `scheduler` says how much is drafted in a step."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        runs: Sequence[LevelRun],
        writer: TraceWriter,
        stop: Callable[[], bool],
        *,
        scheduler: Scheduler,
    ) -> None:
        assert len(stack) == 2, "lanes that meet have one drafter"
        super().__init__(stack, runs, writer, stop)
        self._scheduler, self._lanes = scheduler, Reckoned(self._pass, writer.clock)

    def at_rest(self, length: int) -> Event:
        """See `Driver.at_rest`; the target's alone: what the drafter has ready it writes when it is judged."""
        return self._kv((1,), length)

    def _ordered(self, undecided: int, room: int) -> Orders:
        """What the scheduler has the lanes do in this step."""
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
        """What the drafter is asked for behind a line: at most so many tokens."""
        asked = next(hierarchy.pull(0, line, limit))
        assert isinstance(asked, DraftRequest)
        return asked

    def _together(self, verify: ScoreRequest, draft: DraftRequest | None) -> tuple[PassResult, PassResult | None]:
        """What comes out of both lanes in this step; the clock stands where the longer of them ended."""
        lanes = self._lanes
        lanes.start(verify)
        if draft is None:
            return lanes.ended().done, None
        lanes.start(draft)
        done = {request.level: passed for request, passed in (lanes.ended(), lanes.ended())}
        return done[1], done[0]

    def _settle(self, start: int, slots: Sequence[int], length: int) -> Generator[Event, None, None]:
        """Of what the drafter has processed behind the first `start` tokens these slots stay. length: of the text and
        all that lies ready behind it."""
        run = self.runs[0]
        before = run.cached
        if before > start:
            run.keep(start, slots)
            if run.cached < before:
                yield self.writer.rollback(0, before, run.cached)
        yield self._kv((0,), length)


def naming(order: DraftOrder) -> DraftOrder:
    """The same order, the drafter's likeliest tokens being named and none drawn."""

    def rows(logits: Tensor) -> Tensor:
        order.sampler.check(logits)
        return to_probs(logits, GREEDY)

    return order.drawing(greedy=True, to_probs=rows, pick=lambda row, *place: int(likeliest(row[None])[0]))
