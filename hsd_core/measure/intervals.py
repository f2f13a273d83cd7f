"""95 % intervals of ratios of sums over texts, of means, and of medians. Needs no torch.

Tokens of one text are correlated, so a `Tally` resamples texts: percentile intervals over 1000 resamples. The resamples
are the same for every ratio and every run, so equal sums give equal intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 1000
Name = tuple[object, ...]
Floats = npt.NDArray[np.float64]


class Tally:
    """Numerators and denominators by name and text."""

    def __init__(self, texts: int, resamples: int = RESAMPLES) -> None:
        self._texts = texts
        self._sums: dict[Name, Floats] = {}
        # (resamples, texts) how often each text was drawn
        self._draws = np.random.default_rng(0).multinomial(texts, [1.0 / texts] * texts, size=resamples)

    def add(self, key: Name, text: int, over: float, under: float) -> None:
        """Add to both sums of a ratio for one text."""
        self._sums.setdefault(key, np.zeros((2, self._texts)))[:, text] += over, under

    def names(self) -> list[Name]:
        """The keys, in the order in which they were added."""
        return list(self._sums)

    def ratio(self, key: Name) -> float | None:
        """Sum over sum; None if nothing was counted."""
        over, under = self._sums[key].sum(1) if key in self._sums else (0.0, 0.0)
        return float(over / under) if under > 0.0 else None

    def weight(self, key: Name) -> float:
        """The sum of denominators."""
        return float(self._sums[key][1].sum()) if key in self._sums else 0.0

    def interval(self, key: Name) -> tuple[float, float] | None:
        """95 % interval of a ratio; None if nothing was counted."""
        if self.weight(key) <= 0.0:
            return None
        found = self.resampled(key)
        return middle(found[np.isfinite(found)])

    def resampled(self, key: Name) -> Floats:
        """(resamples,) a ratio in every resample, NaN if nothing was counted in it. The k-th values of all ratios are
        from the same texts."""
        over, under = (self._draws @ self._sums[key].T).T
        found: Floats = np.divide(over, under, out=np.full(len(self._draws), np.nan), where=under > 0.0)
        return found


def middle(found: Floats) -> tuple[float, float]:
    """The ends of the middle 95 %."""
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def mean_interval(values: list[float]) -> tuple[float, float, float]:
    """The mean and its 95 % interval by the normal approximation."""
    found = np.asarray(values, dtype=np.float64)
    mean, off = float(found.mean()), 1.96 * float(found.std()) / float(np.sqrt(len(found)))
    return mean, max(0.0, mean - off), mean + off


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median and its distribution-free 95 % interval by order statistics (the range for fewer than 6 values).

    The k-th smallest and k-th largest of n values enclose the median unless fewer than k of n fair coins fall on one
    side; k is the largest for which that has a probability of at most 2.5 % per side.
    """
    found = np.sort(np.asarray(values, dtype=np.float64))
    n, k, tail, chance = len(found), 0, 0.0, 0.5 ** len(found)
    while k < n // 2 and tail + chance <= 0.025:
        tail, k = tail + chance, k + 1
        chance *= (n - k + 1) / k
    low = max(0, k - 1)
    return float(np.median(found)), float(found[low]), float(found[n - 1 - low])
