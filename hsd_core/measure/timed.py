"""What measurements are made of: passes timed in turn, each turn from another place in the list, so that a machine that
slows down slows all alike; a median with its interval, as a record. Needs no torch to be imported."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

NS_PER_MS = 1e6
STEP = 5  # places between the beginnings of two turns

Cell = TypeVar("Cell", bound=Hashable)
Item = TypeVar("Item")
Task = Callable[[], float]  # one measurement, in ms


def ms_of(call: Callable[..., object], *given: object) -> float:
    """What a call takes."""
    began = time.perf_counter_ns()
    call(*given)
    return (time.perf_counter_ns() - began) / NS_PER_MS


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """The same items, from another place on."""
    at = by % len(items)
    return [*items[at:], *items[:at]]


def in_turns(
    tasks: Mapping[Cell, Task],
    turns: int,
    warm_up: int,
    *,
    fewest: int = 1,
    seconds: float = math.inf,
    tell: Callable[[int, int], None] = lambda done, of: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[Cell, list[float]]:
    """The ms of every cell, one for each turn.

    Args:
        turns: at most. warm_up: turns before those, which are dropped. seconds: after which no further turn begins,
            once there are `fewest`. tell: called with the turns done, and all.

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
        tell(turn + 1, warm_up + turns)
    return found


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median and its distribution-free 95 % interval by order statistics (the range of fewer than 6 values).

    With n values the k-th smallest and k-th largest enclose the median unless fewer than k of n fair coins fall on one
    side; k is the largest for which that has a chance of at most 2.5 % a side.
    """
    found = np.sort(np.asarray(values, dtype=np.float64))
    n, k, tail, chance = len(found), 0, 0.0, 0.5 ** len(found)
    while k < n // 2 and tail + chance <= 0.025:
        tail, k = tail + chance, k + 1
        chance *= (n - k + 1) / k
    low = max(0, k - 1)
    return float(np.median(found)), float(found[low]), float(found[n - 1 - low])


def cost_of(values: Sequence[float], digits: int, **cell: Any) -> dict[str, Any]:
    """A record of what passes of a cell took: their median, and its interval."""
    ms, low, high = (round(part, digits) for part in median_interval(values))
    return {"what": "cost", **cell, "ms": ms, "interval": [low, high]}
