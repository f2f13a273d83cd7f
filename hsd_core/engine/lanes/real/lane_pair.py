"""Both lanes, each a process, on one clock: the real one of levels that work at the same time.

The clock goes on while a lane is at work, whoever holds the run meanwhile: what works in another process does not stand
still for that. Where both stand, it stops as it always does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter_ns

import torch

from hsd_core.engine.clock import EngineClock, RunningClock
from hsd_core.engine.driver import Passed, unless_stopped
from hsd_core.engine.lanes.real.asking import ANSWERS_S, LOOK_S, Answers, AskedLane
from hsd_core.engine.lanes.real.lane_messages import Begin, Draft, Drafted, Hello, Loop, Looped, Ready, Score, Scored
from hsd_core.engine.lanes.real.remote_run import RemoteRun
from hsd_core.engine.lanes.real.spawned_lane import Answered, LaneEnded
from hsd_core.engine.lanes.two_lanes import Ended
from hsd_core.engine.requests import DraftRequest, ScoreRequest
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.protocol import LevelRun, Proposal, Work
from hsd_core.levels.shared import least_positions
from hsd_core.levels.tree import Offer
from hsd_core.models.gpu.read_there import Ranked
from hsd_core.models.gpu.transfer import STAYED
from hsd_core.models.machine import two_cores
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.builder import MadeOf
from hsd_core.stacks.grammar import LevelSpec, format_stack

STARTS_S = 300.0  # weights are loaded, perhaps on a busy machine


@dataclass(slots=True)
class _UnderWay:
    """A request that a lane runs: its number, and when it was sent (ns of the machine's clock)."""

    request: DraftRequest | ScoreRequest
    number: int
    sent: int


class LanePair:
    """Two processes, started with the first run and there until `close`; one run at a time. It makes the `Lanes` of a
    run, and opens its levels.

    Attributes:
        handed: (times, ns), see `trace.Handed`.
    """

    def __init__(self, made_of: MadeOf) -> None:
        self._made_of = made_of
        self._answers = Answers()
        self._lanes: tuple[AskedLane, ...] = ()  # below, target
        self._runs: dict[int, RemoteRun] = {}
        self._under_way: dict[int, _UnderWay] = {}  # by lane
        self._top, self._last = 0, 0
        self._clock: RunningClock
        self.handed = (0, 0)

    @property
    def started(self) -> bool:
        """Whether both processes are there."""
        return bool(self._lanes)

    def open(
        self,
        stack: Sequence[StackEntry],
        capacity: int,
        nodes: int,
        *,
        sampling: Sampling,
        seed: int,
        ends: frozenset[int],
        heads: int,
    ) -> Iterator[LevelRun]:
        """The states of a stack's levels in a new run, the target's first. See `run`, `open_levels`.

        Raises:
            LaneEnded: a process could not be started, or ended. RuntimeError: it could not build its levels.
        """
        top = self._top = len(stack) - 1
        self._answers.stop = lambda: False  # until the run has begun
        self._start([entry.spec for entry in stack])
        positions = least_positions([entry.level for entry in stack])
        begun = []
        for lane, (first, end) in zip(self._lanes, ((0, top), (top, top + 1)), strict=True):
            lane.levels, lane.at_work = range(first, end), False
            given = (capacity, nodes, positions, sampling, seed, ends, heads)
            text = format_stack([entry.spec for entry in stack])
            begun.append((lane, lane.ask(Begin, text, first, end, *given)))
        for one in self._under_way.values():  # of a run that ended in the middle of them
            self._answers.drop(one.number)
        self._under_way.clear()
        for lane, number in begun:
            lane.answer(number, STARTS_S)
        self._runs = {
            i: RemoteRun(self._lanes[i == top], i, heeds=getattr(entry.level, "heeds", False))
            for i, entry in enumerate(stack)
        }
        yield from (self._runs[i] for i in reversed(range(len(stack))))

    def lanes(self, does: object, clock: EngineClock, stop: Callable[[], bool]) -> LanePair:
        """The lanes of the next run: themselves, on its clock."""
        assert isinstance(clock, RunningClock), "a real run has a clock that goes on"
        self._clock, self._last, self.handed = clock, 0, (0, 0)
        self._stop = stop
        return self

    def start(self, request: DraftRequest | ScoreRequest) -> None:
        """See `Lanes.start`."""
        unless_stopped(self._stop)
        self._answers.stop = self._stop
        level, where = request.level, int(request.level == self._top)
        lane, ids = self._lanes[where], list(request.context)
        self._clock.at_work += 1
        lane.at_work = True
        sent = perf_counter_ns()
        if isinstance(request, DraftRequest):
            number = lane.ask(Draft, level, ids, request.order.limit, request.epoch, request.theta)
        else:
            tree = request.tree
            number = lane.ask(Score, level, ids, tree.ids, tree.parents, tree.unread)
        self._under_way[where] = _UnderWay(request, number, sent)

    def ended(self) -> Ended:
        """See `Lanes.ended`."""
        assert self._under_way, "the scheduler left both lanes idle"
        began = monotonic()
        while not (found := dict(self._there())):
            if not self._answers.look(LOOK_S):
                unless_stopped(self._stop)
                if monotonic() - began > ANSWERS_S:
                    raise self._lanes[next(iter(self._under_way))].process.silent(ANSWERS_S)
        first = min(found, key=lambda i: (found[i], -i))
        return self._taken(first, self._answers.take(self._under_way[first].number))

    def looped(self, asked: Sequence[tuple[int, Sequence[int], int]], seconds: float) -> list[list[float]]:
        """Passes of levels that are open, over and over, on each lane at the same time; see `looped`.

        Args:
            asked: level, ids, rows; one of a lane.
        """
        begun = []
        for level, ids, rows in asked:
            lane = self._lanes[level == self._top]
            begun.append((lane, lane.ask(Loop, level, list(ids), rows, seconds)))
        answers = [lane.answer(number).told for lane, number in begun]
        return [told.ms for told in answers if isinstance(told, Looped)]

    def close(self) -> None:
        """End both processes."""
        for lane in self._lanes:
            lane.process.end()
        self._lanes, self._answers = (), Answers()

    def _start(self, specs: Sequence[LevelSpec]) -> None:
        """Have both processes running."""
        if self._lanes:
            return
        names, cores = (format_stack(specs[:-1]), specs[-1].name), two_cores() or (None, None)
        self._lanes = tuple(AskedLane(name, self._answers) for name in names)
        asked = [
            (lane, perf_counter_ns(), lane.ask(Hello, *self._made_of, core))
            for lane, core in zip(self._lanes, reversed(cores), strict=True)
        ]
        for lane, at, number in asked:
            told, _, heard = lane.answer(number, STARTS_S)
            assert isinstance(told, Ready)
            if not at <= told.at <= heard:
                raise LaneEnded(f'the lane "{lane.process.name}" keeps another clock; take --clock reckoned')

    def _there(self) -> Iterator[tuple[int, int]]:
        """The lanes whose request has ended, and when (ns of the machine's clock)."""
        for i, one in self._under_way.items():
            if (answered := self._answers.seen(one.number)) is not None:
                assert isinstance(answered.told, Scored)
                yield i, answered.told.t1

    def _taken(self, where: int, answered: Answered) -> Ended:
        """A lane has come to the end of a request."""
        one, lane, told = self._under_way.pop(where), self._lanes[where], answered.told
        assert isinstance(told, Scored)
        self._clock.at_work -= 1
        lane.at_work = False
        times, ns = self.handed
        self.handed = times + 1, ns + (answered.at - one.sent) - (told.t1 - told.t0)
        # What is heard a moment late, behind the end of what the other lane did, ends when it is heard.
        t0 = self._clock.of(told.t0)
        t1 = self._last = max(self._last, self._clock.of(told.t1), t0)
        work = Work(*told.work, told.ran)
        if isinstance(told, Drafted):
            return Ended(one.request, Passed(_proposal(told, answered, work), work, t0, t1, STAYED))
        return Ended(one.request, Passed(answered.tensors[0], work, t0, t1, STAYED))


def _proposal(told: Drafted, answered: Answered, work: Work) -> Proposal:
    behind = list(answered.tensors)
    rows = behind.pop(0) if told.drawn else None
    logits = ranked = None
    if told.logits is not None:
        # What is read of logits that stayed there is ranked.
        logits = behind.pop(0) if behind else torch.empty(told.logits, device="meta")
        ranked = None if told.ranked is None else Ranked(told.ranked, told.sound)
    offered = None if told.offered is None else tuple(Offer(*one) for one in told.offered)
    return Proposal(
        told.ids,
        told.sources,
        work,
        rows,
        logits,
        told.parents,
        offered,
        told.repeats,
        told.copied,
        told.theta,
        told.keys,
        told.silent,
        ranked=ranked,
    )
