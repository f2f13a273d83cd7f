"""A line of acceptance over the logarithm of the training tokens: fitted without its largest point, checked on it.

    y = y_0 + s log2(tokens / tokens_0)        s: what a doubling of the data bought

Scylla (arXiv 2505.07858) finds such lines for the tokens a pass yields (its "acceptance rate"); here the same is asked
of the share of drafted tokens that is accepted, a probability. Intervals are bootstrap ones over texts: in a resample
every training is judged by the same texts, and the line is fitted anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsd_core.measure.intervals import Floats, Tally, middle
from hsd_core.systems.nano.train.scaling.measures import COUNTS, MEASURES

FARTHEST = 4.0  # times the most tokens that were learned: no line is extended beyond
FEWEST = 4  # points of a line that is checked: three to fit, one to check
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured or predicted number with its 95 % interval."""

    value: float
    interval: Ends


@dataclass(frozen=True, slots=True)
class Line:
    """slope: per doubling. start: its value at `tokens` tokens. All may be arrays of resamples."""

    tokens: float
    start: Floats
    slope: Floats

    @classmethod
    def through(cls, tokens: Sequence[float], values: Floats) -> Line:
        """The least squares. values: (points,) or (points, resamples)."""
        x = np.log2(np.array(tokens, dtype=np.float64) / tokens[0])
        off = x - x.mean()
        slope = off @ values / (off @ off)
        return cls(float(tokens[0]), values.mean(0) - slope * x.mean(), slope)

    def at(self, tokens: float) -> Floats:
        """Its value there."""
        found: Floats = self.start + self.slope * np.log2(tokens / self.tokens)
        return found


@dataclass(frozen=True, slots=True)
class Law:
    """One measure over the tokens.

    Attributes:
        tokens: of each training, fewest first. measured: what each reached. line: without the last of them.
        slope: its slope, with an interval. predicted: its value at the last. off: measured less predicted there.
        residuals: of the points that it was fitted to. whole: the line through all points. ahead: all its resamples.
    """

    tokens: tuple[int, ...]
    measured: tuple[Reading, ...]
    line: Line
    slope: Reading
    predicted: Reading
    off: Reading
    residuals: tuple[float, ...]
    whole: Line
    ahead: Line

    def reaches(self, tokens: float) -> Reading:
        """What the line through all points says for more tokens than were learned.

        Raises:
            ValueError: that is more than `FARTHEST` times as many.
        """
        if tokens > FARTHEST * self.tokens[-1]:
            raise ValueError(f"{tokens:.0f} tokens are more than {FARTHEST:g} times the {self.tokens[-1]} of the line")
        return Reading(float(self.whole.at(tokens)), middle(self.ahead.at(tokens)))


def law(tokens: Sequence[int], values: Floats, resampled: Floats) -> Law:
    """
    Args:
        tokens: of each training, rising. values: (points,) what they reached. resampled: (points, resamples).
    Raises:
        ValueError: there are fewer than `FEWEST` points.
    """
    if len(tokens) < FEWEST:
        raise ValueError(f"a line over {len(tokens)} trainings cannot be checked; let the sweep finish {FEWEST}")
    fitted, drawn = (Line.through(tokens[:-1], each[:-1]) for each in (values, resampled))
    predicted, there = float(fitted.at(tokens[-1])), drawn.at(tokens[-1])
    return Law(
        tokens=tuple(tokens),
        measured=tuple(Reading(float(v), middle(r)) for v, r in zip(values, resampled, strict=True)),
        line=fitted,
        slope=Reading(float(fitted.slope), middle(drawn.slope)),
        predicted=Reading(predicted, middle(there)),
        off=Reading(float(values[-1]) - predicted, middle(resampled[-1] - there)),
        residuals=tuple(float(v - fitted.at(n)) for n, v in zip(tokens[:-1], values, strict=False)),
        whole=Line.through(tokens, values),
        ahead=Line.through(tokens, resampled),
    )


class Readings:
    """Every measure of a sweep's trainings on one set of texts: by training, gate and measure.

    Args:
        trainings: records of a sweep. texts: "held_out" or "other".
    """

    def __init__(self, trainings: Sequence[Mapping[str, Any]], texts: str) -> None:
        counts = [one["judged"][texts] for one in trainings]
        self._tally = Tally(len(counts[0]["gate"]))
        self.texts = len(counts[0]["gate"])
        for at, gates in enumerate(counts):
            for gate, rows in gates.items():
                for text, row in enumerate(rows):
                    named = dict(zip(COUNTS, row, strict=True))
                    for measure, (over, under) in MEASURES.items():
                        sums = (sum(named[name] for name in names) for names in (over, under))
                        self._tally.add((at, gate, measure), text, *sums)

    def reading(self, training: int, gate: str, measure: str) -> Reading:
        """Of a training by its place among the records."""
        found = self._tally.resampled((training, gate, measure))
        return Reading(self._tally.ratio((training, gate, measure)) or 0.0, middle(found))

    def law(self, trainings: Sequence[int], tokens: Sequence[int], gate: str, measure: str) -> Law:
        """Over some of the trainings, in the order of their tokens; see `law`."""
        keys = [(at, gate, measure) for at in trainings]
        values = np.array([self._tally.ratio(key) for key in keys], dtype=np.float64)
        return law(tokens, values, np.stack([self._tally.resampled(key) for key in keys]))
