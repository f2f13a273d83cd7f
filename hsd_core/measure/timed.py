"""Timing in turns: each turn starts at another task of the list, so that a machine that slows down slows all alike. The
record of a cost. Imports no torch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from hsd_core.measure.intervals import median_interval

NS_PER_MS = 1e6
STEP = 5  # tasks between the starts of two turns

Cell = TypeVar("Cell", bound=Hashable)
Item = TypeVar("Item")
Task = Callable[[], float]  # one measurement, in ms


def ms_of(call: Callable[..., object], *given: object) -> float:
    """The ms of a call."""
    began = time.perf_counter_ns()
    call(*given)
    return (time.perf_counter_ns() - began) / NS_PER_MS


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """The items rotated to the left by `by`."""
    at = by % len(items)
    return [*items[at:], *items[:at]]


def in_turns(
    tasks: Mapping[Cell, Task],
    turns: int,
    warm_up: int,
    *,
    fewest: int = 1,
    seconds: float = math.inf,
    progress: Callable[[int, int], None] = lambda done, of: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[Cell, list[float]]:
    """The ms of every task, one value per turn.

    Args:
        turns: at most. warm_up: turns before those, which are dropped. seconds: after which no further turn begins,
            once there are `fewest`. progress: called with the turns done, and all.

    Raises:
        Stopped: `stop` turned true.
    """
    from hsd_core.core.driver import Stopped

    found: dict[Cell, list[float]] = {cell: [] for cell in tasks}
    began, cells = time.monotonic(), list(tasks)
    for turn in range(warm_up + turns):
        if turn >= warm_up + fewest and time.monotonic() - began >= seconds:
            break
        for cell in rotated(cells, turn * STEP):
            if stop():
                raise Stopped
            ms = tasks[cell]()
            if turn >= warm_up:
                found[cell].append(ms)
        progress(turn + 1, warm_up + turns)
    return found


def cost_of(values: Sequence[float], digits: int, **cell: Any) -> dict[str, Any]:
    """The record of a cell's cost: the median of its passes, with its interval."""
    ms, low, high = (round(part, digits) for part in median_interval(values))
    return {"what": "cost", **cell, "ms": ms, "interval": [low, high]}
