"""Two lanes: places that run one request each at a time, the target's and that of the levels below it.

The driver of both (`overlapped`) starts requests and takes up what ends first; how they are run, and on whose clock, is
the lanes' own:

    Reckoned    each request runs alone and is timed; only that they overlap is arithmetic
    LanePair    each lane is a process (`real/`), and times are those of one clock
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from hsd_core.engine.clock import EngineClock
from hsd_core.engine.driver import Passed
from hsd_core.engine.requests import DraftRequest, ScoreRequest
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.protocol import LevelRun
from hsd_core.models.sampling import Sampling


class Ended(NamedTuple):
    """A request that a lane has come to the end of, and what came out."""

    request: DraftRequest | ScoreRequest
    done: Passed


class Lanes(Protocol):
    """Runs the requests of the target on one lane, those of all levels below it on the other."""

    def start(self, request: DraftRequest | ScoreRequest) -> None:
        """Have the lane of its level begin with a request; that lane stands."""
        ...

    def ended(self) -> Ended:
        """What ends first of all that is under way, of equals the target's; the clock is not before its end then.

        Nobody learns what came out of a request before. One lane is at work at least.
        """
        ...


class MakesLanes(Protocol):
    """Makes the lanes of one run. does: has a level draft or score here, and times it on the clock. stop: see `run`."""

    def __call__(
        self, does: Callable[[DraftRequest | ScoreRequest], Passed], clock: EngineClock, stop: Callable[[], bool]
    ) -> Lanes: ...


class Elsewhere(Protocol):
    """Lanes that are processes of their own."""

    @property
    def handed(self) -> tuple[int, int]:
        """Of the present run, (times, ns); see `trace.Handed`."""
        ...

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
        """The states of a stack's levels in the next run, kept there; the target's first. See `run`, `open_levels`."""
        ...

    def lanes(self, does: object, clock: EngineClock, stop: Callable[[], bool]) -> Lanes:
        """The lanes of the next run, on a `RunningClock`; see `MakesLanes`."""
        ...


class Reckoned:
    """`Lanes` in one process: what a second machine of this kind would give.

    A request runs alone as soon as it is started, and what came out stays sealed until its lane has come to the end.
    """

    def __init__(
        self, does: Callable[[DraftRequest | ScoreRequest], Passed], clock: EngineClock, stop: Callable[[], bool]
    ) -> None:
        self._does, self._clock = does, clock  # what it does hears of a stop itself
        self._under_way: list[Ended] = []

    def start(self, request: DraftRequest | ScoreRequest) -> None:
        """See `Lanes.start`."""
        started = self._clock.now()
        self._under_way.append(Ended(request, self._does(request)))
        self._clock.set(started)

    def ended(self) -> Ended:
        """See `Lanes.ended`."""
        assert self._under_way, "the scheduler left both lanes idle"
        first = min(self._under_way, key=lambda one: (one.done.t1, -one.request.level))
        self._under_way.remove(first)
        self._clock.set(max(self._clock.now(), first.done.t1))
        return first
