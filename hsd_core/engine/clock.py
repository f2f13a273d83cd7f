"""The engine's clock: monotonic nanoseconds that stand still while nobody decodes.

Time is stamped here and nowhere else. The clock stops while the consumer of a run holds the generator
(drawing, networks, other racers) and while the engine writes down what an observer wants to see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class EngineClock:
    """0 at construction; `now()` in ns, without the time spent inside `stopped()`."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._read = monotonic_ns
        self._origin = monotonic_ns()
        self._held = 0
        self._stopped_at: int | None = None

    def now(self) -> int:
        reading = self._read() if self._stopped_at is None else self._stopped_at
        return reading - self._origin - self._held

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock for the block; nested stops count once."""
        if self._stopped_at is not None:
            yield
            return
        self._stopped_at = self._read()
        try:
            yield
        finally:
            self._held += self._read() - self._stopped_at
            self._stopped_at = None
