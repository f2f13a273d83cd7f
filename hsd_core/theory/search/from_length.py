"""From which length of a text on a view of its cache pays: costs that grow with the text, by rows and length.

A pass of the target over n tokens of context takes base + n slope, for each number of rows; a pass of a view takes what
its budget costs, however long the text is. With acceptance a, drafts of T tokens make (1 + a + ... + a^T) tokens of T
passes of the view and one of the target with T + 1 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

LONGEST = 12  # drafts that are tried
FURTHEST = 1_000_000  # tokens of a text that are asked about


@dataclass(frozen=True, slots=True)
class Growing:
    """ms of a pass by its rows and by the length of the text before it; lines in the length, measured at some rows."""

    rows: tuple[int, ...]
    base: tuple[float, ...]
    slope: tuple[float, ...]

    @classmethod
    def fitted(cls, measured: Mapping[tuple[int, int], float]) -> Growing:
        """From ms by (rows, length), two lengths at the least.

        Raises:
            ValueError: there are fewer lengths.
        """
        rows = sorted({n for n, _ in measured})
        lines = []
        for n in rows:
            points = [(length, ms) for (own, length), ms in measured.items() if own == n]
            if len(points) < 2:
                raise ValueError(f"passes of {n} rows were timed at {len(points)} lengths; time them at two or more")
            slope, base = np.polyfit([length for length, _ in points], [ms for _, ms in points], 1)
            lines.append((float(base), max(0.0, float(slope))))
        return cls(tuple(rows), tuple(base for base, _ in lines), tuple(slope for _, slope in lines))

    def ms(self, rows: int, length: float) -> float:
        """Between measured rows on a line; beyond them on along the last one."""
        known = [base + length * slope for base, slope in zip(self.base, self.slope, strict=True)]
        if rows > self.rows[-1] and len(known) > 1:
            step = (known[-1] - known[-2]) / (self.rows[-1] - self.rows[-2])
            return known[-1] + (rows - self.rows[-1]) * step
        return float(np.interp(rows, self.rows, known))


def best_gain(target: Growing, view_ms: float, a: float, length: float) -> tuple[float, int]:
    """How many times as fast as the target alone, with the best T; and that T."""
    plain = target.ms(1, length)
    found = []
    for block in range(1, LONGEST + 1):
        tokens = sum(a**k for k in range(block + 1))
        found.append((tokens * plain / (block * view_ms + target.ms(block + 1, length)), block))
    return max(found)


def pays_from(target: Growing, view_ms: float, a: float) -> int | None:
    """The first length at which `best_gain` exceeds 1; None where it does not up to `FURTHEST` tokens.

    The gain grows with the length, for the target's passes do and the view's do not.
    """
    if best_gain(target, view_ms, a, FURTHEST)[0] <= 1.0:
        return None
    return first_true(lambda length: best_gain(target, view_ms, a, length)[0] > 1.0, 0, FURTHEST)


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number above `low` of which something holds, by bisection; it holds of `high`, and from its first
    number on."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
