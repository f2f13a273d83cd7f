"""Lanes: places that run one request each at a time. Drivers start requests and take up what ends first.

Each request runs alone and is timed; only that requests overlap is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hsd_core.core.clock import EngineClock
from hsd_core.core.driver import PassResult
from hsd_core.core.requests import DraftRequest, ScoreRequest


class Ended(NamedTuple):
    """A request that a lane has come to the end of, and what came out."""

    request: DraftRequest | ScoreRequest
    done: PassResult


class Reckoned:
    """What another machine of this kind would give.

    A request runs alone as soon as it is started, and what came out stays sealed until its lane has come to the end.

    Args:
        does: has a level draft or score, and times it on the clock; it ends the run where that is stopped.
    """

    def __init__(self, does: Callable[[DraftRequest | ScoreRequest], PassResult], clock: EngineClock) -> None:
        self._does, self._clock = does, clock
        self._under_way: list[Ended] = []

    def start(self, request: DraftRequest | ScoreRequest) -> None:
        """Have the lane of its level begin with a request; that lane stands."""
        started = self._clock.now()
        self._under_way.append(Ended(request, self._does(request)))
        self._clock.set(started)

    def ended(self) -> Ended:
        """What ends first of all that is under way, of equals the target's; the clock is not before its end then.

        Nobody learns what came out of a request before. One lane is at work at least.
        """
        assert self._under_way, "the scheduler left both lanes idle"
        first = min(self._under_way, key=lambda one: (one.done.t1, -one.request.level))
        self._under_way.remove(first)
        self._clock.set(max(self._clock.now(), first.done.t1))
        return first
