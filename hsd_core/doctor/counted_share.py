"""A share of counted trials with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959964  # of a normal distribution: 95 % lie within


@dataclass(frozen=True, slots=True)
class Share:
    """A probability as estimated. low, high: its 95 % interval, None where the trials were not counted.

    at_least: not all trials reached what was asked, so the true share is this large or larger. trials: None as low.
    """

    value: float
    low: float | None = None
    high: float | None = None
    at_least: bool = False
    trials: float | None = None

    def __str__(self) -> str:
        if self.at_least:
            return f"at least {self.value:.2f}"
        return f"{self.value:.2f}" if self.low is None else f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def wilson(hits: float, trials: float) -> Share:
    """hits / trials with Wilson's score interval (1927), which holds near 0 and 1 and for few trials."""
    if trials <= 0:
        return Share(0.0)
    share = min(1.0, hits / trials)
    square = Z * Z / trials
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(max(0.0, share * (1 - share) / trials + square / (4 * trials))) / (1 + square)
    return Share(share, max(0.0, middle - half), min(1.0, middle + half), trials=trials)


def flat_share(accepted: float, length: float) -> float:
    """The one share a of all positions with which drafts of `length` tokens have `accepted` of them accepted.

    a + a^2 + ... + a^length = accepted; a length that is no whole number counts the last token in part.
    """
    if accepted <= 0 or length <= 0:
        return 0.0
    if accepted >= length:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle, length) < accepted else (low, middle)
    return (low + high) / 2


def kept(share: float, length: float) -> float:
    """Accepted tokens of a draft of `length` tokens at one share for all of them: a geometric sum."""
    whole = int(length)
    full = float(whole) if share >= 1.0 else share * (1.0 - share**whole) / (1.0 - share)
    return full + (length - whole) * share ** (whole + 1)
