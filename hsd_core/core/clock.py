"""The engine's clock: monotonic nanoseconds, stopped while nothing is decoded.

All times of a run come from it. It stops while the consumer of a run holds the generator (drawing, network, the other
runs of a race) and while the engine records events.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager


class EngineClock:
    """0 at construction; `now()` in ns, without the time spent inside `stopped()`."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._read = monotonic_ns
        self._origin = monotonic_ns()
        self._held = 0
        self._stopped_at: int | None = None
        self._stopped = _Stopped(self)

    def now(self) -> int:
        reading = self._read() if self._stopped_at is None else self._stopped_at
        return reading - self._origin - self._held

    def stopped(self) -> AbstractContextManager[None]:
        """Stop the clock for the block; nested stops count once."""
        return self._stopped

    def set(self, ns: int) -> None:
        """Continue from another time; it puts a pass that ran alone on a timeline with others."""
        self._held += self.now() - ns

    def stop(self) -> None:
        """Stand still from now on."""
        self._stopped_at = self._read()

    def go_on(self) -> None:
        """Continue, without the time since `stop`."""
        assert self._stopped_at is not None, "the clock was not stopped"
        self._held += self._read() - self._stopped_at
        self._stopped_at = None


class _Stopped:
    """The block of `EngineClock.stopped`: entered for every event, so it is made once and is not a generator."""

    __slots__ = ("_clock", "_depth")

    def __init__(self, clock: EngineClock) -> None:
        self._clock, self._depth = clock, 0

    def __enter__(self) -> None:
        if not self._depth:
            self._clock.stop()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._clock.go_on()
