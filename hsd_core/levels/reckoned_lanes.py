"""Lanes on a reckoned clock: each request runs alone and is timed; only their overlap is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from hsd_core.core.clock import EngineClock


class OnLane(Protocol):
    """A request. level: of several that end together the highest one is handed out first."""

    @property
    def level(self) -> int: ...


class Timed(Protocol):
    """What came of a request. t1: when it ended (ns)."""

    @property
    def t1(self) -> int: ...


R = TypeVar("R", bound=OnLane)
D = TypeVar("D", bound=Timed)


class SimulatedLanes(Generic[R, D]):
    """Lanes as they would run on several machines of this kind.

    A request runs alone as soon as it is started; its result is not handed out before its lane would have ended.

    Args:
        does: runs a request, and times it on the clock; it raises if the run is stopped.
    """

    def __init__(self, does: Callable[[R], D], clock: EngineClock) -> None:
        self._does, self._clock = does, clock
        self._in_flight: list[tuple[R, D]] = []

    def start(self, request: R) -> None:
        """Start a request on its level's lane, which is idle."""
        started = self._clock.now()
        self._in_flight.append((request, self._does(request)))
        self._clock.set(started)

    def ended(self) -> tuple[R, D]:
        """The request that ends first (of equals the target's), with its result; sets the clock to its end.

        At least one lane is at work.
        """
        assert self._in_flight, "the scheduler left both lanes idle"
        first = min(self._in_flight, key=lambda one: (one[1].t1, -one[0].level))
        self._in_flight.remove(first)
        self._clock.set(max(self._clock.now(), first[1].t1))
        return first
