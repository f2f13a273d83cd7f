"""The measures of a draft along a text, and their line over the logarithm of the training tokens. Needs no torch.

Rounds along a text that the target wrote greedily: each drafts up to `BLOCK` tokens; tokens are accepted while they are
the target's, the first other one is rejected and corrected, and a round without a rejection ends with one more token of
the target. So a round begins where the last one ended, as in a run; this is exact for greedy decoding.

    acceptance        accepted over judged tokens, a probability
    tokens_per_pass   of the target, a count: what Scylla (arXiv 2505.07858) calls the acceptance rate
    agreement         at all positions: the draft's first choice is the target's
    overlap           at all positions: 1 - TV to the target's distribution at temperature 1

A line is fitted without its largest point and checked on that; s is the gain per doubling of the data:

    y = y_0 + s log2(tokens / tokens_0)

Intervals are bootstrap ones over texts: in a resample every training is judged by the same texts, and the line is
fitted anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from hsd_core.measure.intervals import Floats, Tally, middle

BLOCK = 4  # tokens drafted a round
COUNTS = ("tokens", "agreed", "overlap", "accepted", "rejected", "passes")  # the columns of a text's row
# Each measure is a ratio of two sums of counts: acceptance and tokens a pass of rounds, the others of all positions.
MEASURES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "acceptance": (("accepted",), ("accepted", "rejected")),
        "tokens_per_pass": (("tokens",), ("passes",)),
        "agreement": (("agreed",), ("tokens",)),
        "overlap": (("overlap",), ("tokens",)),
    }
)
Row = tuple[int, int, float, int, int, int]


@dataclass(frozen=True, slots=True)
class Walk:
    """The totals of the rounds along one text."""

    accepted: int = 0
    rejected: int = 0
    passes: int = 0


def walk(hits: Sequence[Sequence[bool]]) -> Walk:
    """Rounds along n tokens. hits[d][t]: whether the d-th token of a draft at place t is the target's."""
    n, block = len(hits[0]), len(hits)
    at = accepted = rejected = passes = 0
    while at < n:
        run = 0
        while run < block and at + run < n and hits[run][at + run]:
            run += 1
        passes, accepted = passes + 1, accepted + run
        rejected += run < block and at + run < n
        at += run + 1
    return Walk(accepted, rejected, passes)


FARTHEST = 4.0  # the farthest extrapolation, in multiples of the most training tokens
FEWEST = 4  # points of a line: three to fit, one to check
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
        """By least squares. values: (points,) or (points, resamples)."""
        x = np.log2(np.array(tokens, dtype=np.float64) / tokens[0])
        off = x - x.mean()
        slope = off @ values / (off @ off)
        return cls(float(tokens[0]), values.mean(0) - slope * x.mean(), slope)

    def at(self, tokens: float) -> Floats:
        """Its value at a number of tokens."""
        found: Floats = self.start + self.slope * np.log2(tokens / self.tokens)
        return found


@dataclass(frozen=True, slots=True)
class Law:
    """One measure over the tokens.

    Attributes:
        tokens: of each training, fewest first. measured: the value of each. line: fitted without the last.
        slope: its slope, with an interval. predicted: its value at the last. off: measured minus predicted there.
        residuals: of the fitted points. whole: the line through all points. ahead: its resamples.
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
        """The extrapolation of the line through all points.

        Raises:
            ValueError: `tokens` is more than `FARTHEST` times the most training tokens.
        """
        if tokens > FARTHEST * self.tokens[-1]:
            raise ValueError(f"{tokens:.0f} tokens are more than {FARTHEST:g} times the {self.tokens[-1]} of the line")
        return Reading(float(self.whole.at(tokens)), middle(self.ahead.at(tokens)))


def law(tokens: Sequence[int], values: Floats, resampled: Floats) -> Law:
    """
    Args:
        tokens: of each training, rising. values: (points,). resampled: (points, resamples).
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
        """A measure of a training. training: its index among the records."""
        found = self._tally.resampled((training, gate, measure))
        return Reading(self._tally.ratio((training, gate, measure)) or 0.0, middle(found))

    def law(self, trainings: Sequence[int], tokens: Sequence[int], gate: str, measure: str) -> Law:
        """Over some of the trainings, in the order of their tokens; see `law`."""
        keys = [(at, gate, measure) for at in trainings]
        values = np.array([self._tally.ratio(key) for key in keys], dtype=np.float64)
        return law(tokens, values, np.stack([self._tally.resampled(key) for key in keys]))
