"""The cost of a forward: milliseconds as a function of its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_ROWS = 4096


class ProfileError(ValueError):
    """A profile or plan cannot be used; the message names the field and what to do."""


class Form(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a profile in JSON; defaults are omitted."""


@dataclass(frozen=True, slots=True)
class Costs:
    """c(n): ms of one call on n rows. Linear between the given row counts; a single count is a constant.

    Below the first count its cost holds; beyond the last one the last segment is continued, but never falls.
    `low`, `high`: the ends of the measured intervals, one per row count.
    """

    rows: tuple[int, ...]
    ms: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.rows or len(self.rows) != len(self.ms):
            raise ProfileError('give one cost for each row count, for example {"1": 0.5}')
        if any(not 1 <= n <= MOST_ROWS for n in self.rows) or any(b <= a for a, b in pairwise(self.rows)):
            raise ProfileError(f"row counts are {list(self.rows)}; use rising whole numbers from 1 to {MOST_ROWS}")
        if bad := [ms for ms in self.ms if not (math.isfinite(ms) and ms > 0)]:
            raise ProfileError(f"{bad[0]} is not a cost; use a positive number of milliseconds")
        for end in (self.low, self.high):
            if end is not None and (len(end) != len(self.rows) or not all(math.isfinite(x) and x >= 0 for x in end)):
                raise ProfileError("interval_ms must have [low, high] in ms for every row count of cost_ms")

    def __call__(self, n: int) -> float:
        """c(n) in ms; c(0) = 0."""
        return float(self.table(n)[n])

    def table(self, n_max: int) -> Array:
        """c(0), ..., c(n_max) in ms, c(0) = 0: (n_max + 1,), read-only."""
        return _table(self, n_max)

    def at(self, rows: Array) -> Array:
        """ms for mean row counts, which may be fractions of at least 1; same shape as `rows`."""
        return _interpolated(self, rows)

    def scaled(self, factor: float) -> Costs:
        """The same costs times a factor."""
        return self._each(lambda value: value * factor)

    def plus(self, ms: float) -> Costs:
        """The same costs plus `ms` per call."""
        return self._each(lambda value: round(value + ms, 5))

    def _each(self, change: Callable[[float], float]) -> Costs:
        low, high = (None if ends is None else tuple(map(change, ends)) for ends in (self.low, self.high))
        return Costs(self.rows, tuple(map(change, self.ms)), low, high)

    @classmethod
    def constant(cls, ms: float) -> Costs:
        """A cost that does not depend on the rows."""
        return cls((1,), (ms,))

    @classmethod
    def read(cls, given: Any, where: str, intervals: Any = None) -> Costs:
        """From JSON: {"1": 0.5, "8": 0.6}, or a number for a constant; `intervals`: {"1": [low, high], ...}.

        Raises:
            ProfileError: it is neither of these.
        """
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            given = {"1": given}
        if not isinstance(given, Mapping) or not given:
            raise ProfileError(f'{where}: give ms by row count, such as {{"1": 0.5, "8": 0.6}}')
        try:
            listed = sorted((row_count(n), number(ms, where)) for n, ms in given.items())
            rows, ms = tuple(n for n, _ in listed), tuple(ms for _, ms in listed)
            costs = cls(rows, ms)
            if not intervals:
                return costs
            by_rows = {row_count(n): pair for n, pair in intervals.items()}
            pairs = [by_rows[n] for n in rows]
            return cls(rows, ms, *(tuple(number(pair[end], where) for pair in pairs) for end in (0, 1)))
        except ProfileError as error:
            raise ProfileError(error.args[0] if where in error.args[0] else f"{where}: {error}") from None
        except (AttributeError, KeyError, IndexError, TypeError):
            raise ProfileError(f"{where}: interval_ms needs [low, high] for every row count of cost_ms") from None

    def as_dict(self) -> dict[str, float]:
        return {str(n): ms for n, ms in zip(self.rows, self.ms, strict=True)}

    def intervals_as_dict(self) -> dict[str, list[float]] | None:
        if self.low is None or self.high is None:
            return None
        return {str(n): [low, high] for n, low, high in zip(self.rows, self.low, self.high, strict=True)}


def number(value: Any, where: str) -> float:
    """A finite JSON number.

    Raises:
        ProfileError: it is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ProfileError(f"{where}: {value!r} is not a number")
    return float(value)


def row_count(text: Any, what: str = "row count") -> int:
    """A key of JSON as a whole number.

    Raises:
        ProfileError: it is none.
    """
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 6:
        return int(text)
    raise ProfileError(f"{what} {text!r} is not a whole number from 1 to {MOST_ROWS}")


@lru_cache(maxsize=4096)  # a planner uses a few tables thousands of times
def _table(costs: Costs, n_max: int) -> Array:
    table = _interpolated(costs, np.arange(n_max + 1, dtype=np.float64))
    table[0] = 0.0
    table.flags.writeable = False
    return table


def _interpolated(costs: Costs, counts: Array) -> Array:
    out = np.interp(counts, costs.rows, costs.ms)
    if len(costs.rows) > 1:
        slope = (costs.ms[-1] - costs.ms[-2]) / (costs.rows[-1] - costs.rows[-2])
        out += max(0.0, slope) * np.maximum(0.0, counts - costs.rows[-1])
    return np.asarray(out, dtype=np.float64)
