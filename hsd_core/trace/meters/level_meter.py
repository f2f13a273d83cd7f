"""Counts of one level, and its figures from them; `metrics` says what each one is."""

from __future__ import annotations

from typing import Any

_NS_PER_MS = 1e6


class LevelMeter:
    def __init__(self) -> None:
        self.judged = self.accepted = self.forwards = self.rows = self.catch_up = self.useful = self.busy_ns = 0
        self.bounded = self.reached = 0  # places with a bound, and of them those where the rule's own chance is known
        self.best = self.by_rule = 0.0  # sums over them

    def snapshot(self, level: int) -> dict[str, Any]:
        return {
            "level": level,
            "acceptance": ratio(self.accepted, self.judged),
            "judged": self.judged,
            "accepted": self.accepted,
            "bound": ratio(self.best, self.bounded),
            "expected": ratio(self.by_rule, self.reached) if self.reached == self.bounded else None,
            "forwards": self.forwards,
            "ms_per_call": ratio(self.busy_ns / _NS_PER_MS, self.forwards),
            "busy_ms": self.busy_ns / _NS_PER_MS,
            "rows": self.rows,
            "waste": ratio(self.rows - self.catch_up - self.useful, self.rows),
        }


def ratio(part: float, whole: float) -> float | None:
    """None where there is nothing to divide by."""
    return part / whole if whole > 0 else None
