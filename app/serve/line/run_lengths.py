"""How long runs take here, by what they are asked for: the runs before yours, and when a place becomes free.

Only runs that came to their end say how long such a run takes. How much of that was used in the end, with the runs that
were stopped or left, says how much of it to expect of those that wait.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean, pvariance

KEPT = 24  # of each kind
LIKE = 1.5  # so many times more or fewer tokens were asked of a run that is much the same
ENOUGH = 3
OUTCOMES = 40
PACE = 30  # runs, by which it is known how many are served in a minute
PRIOR = 4  # runs, as which it weighs that all come to their end
UNSURE = 0.2  # of a time: who leaves and who comes is not known
LIKELY = 1.28  # standard deviations: four waits in five lie within


@dataclass(frozen=True, slots=True)
class RunKind:
    """What is asked of the engine.

    what: run, race, quick or measure; beside: what is measured with it; tokens: of all lanes and repeats together, at
    most.
    """

    what: str = "run"
    preset: str = ""
    device: str | None = None
    beside: tuple[str, ...] = ()
    tokens: int = 1


ANY = RunKind()


@dataclass(frozen=True, slots=True)
class WaitSpan:
    """A time (s) and its variance."""

    seconds: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, samples: list[float]) -> WaitSpan:
        """Of one more like these."""
        mean = fmean(samples)
        # What few samples say of how far they vary is little: as if one more had been half as long, or twice.
        return cls(mean, (len(samples) * pvariance(samples) + (mean / 2) ** 2) / (len(samples) + 1))

    def __add__(self, other: WaitSpan) -> WaitSpan:
        return WaitSpan(self.seconds + other.seconds, self.variance + other.variance)

    def times(self, factor: float) -> WaitSpan:
        return WaitSpan(factor * self.seconds, factor * factor * self.variance)

    def used(self, share: float) -> WaitSpan:
        """Of a run of which a share will be used: as if it came to its end that often, and else took nothing."""
        left = max(0.0, 1 - share)
        return WaitSpan(share * self.seconds, share * (self.variance + left * self.seconds**2))

    @property
    def bounds(self) -> tuple[float, float]:
        """From, to (s), as it will likely be."""
        off = math.hypot(LIKELY * math.sqrt(self.variance), UNSURE * self.seconds)
        return max(0.0, self.seconds - off), self.seconds + off


class RunLengths:
    """What the last runs of each kind took (s), and how much of what was expected of all was used."""

    def __init__(self) -> None:
        self._took: dict[RunKind, deque[tuple[int, float]]] = {}
        self._used: deque[tuple[float, float]] = deque(maxlen=OUTCOMES)
        self._answers: deque[tuple[str, float]] = deque(maxlen=PACE)

    def add(self, kind: RunKind, seconds: float, part: float = 1.0) -> None:
        """A run came to its end. part: of the engine's places that were at work, where they share its passes."""
        self._took.setdefault(replace(kind, tokens=1), deque(maxlen=KEPT)).append((kind.tokens, seconds))
        if kind.what == "run":
            self._answers.append((kind.preset, seconds / part))

    def used(self, expected: float, seconds: float) -> None:
        """A run that was expected to take so long is over, however it ended; 0 s if it left before its turn."""
        self._used.append((expected, seconds))

    @property
    def pace(self) -> float | None:
        """How many runs of the preset that answered last come to their end in a minute of the engine's time, whatever
        was asked of them; None where they are few."""
        alike = [seconds for preset, seconds in self._answers if preset == self._answers[-1][0]]
        return 60.0 / max(fmean(alike), 1e-3) if len(alike) >= ENOUGH else None

    @property
    def share(self) -> float:
        """Of what is expected of runs that wait, how much will be used."""
        if not self._used:
            return 1.0
        prior = PRIOR * fmean(expected for expected, _ in self._used)
        expected, used = (sum(column) for column in zip(*self._used, strict=True))
        return float((used + prior) / (expected + prior)) if expected else 1.0

    def typical(self, kind: RunKind) -> WaitSpan | None:
        """What a run of this kind takes; None while nothing like it has come to its end."""
        samples = self._samples(kind)
        return WaitSpan.of(samples) if samples else None

    def left(self, kind: RunKind, gone: float) -> WaitSpan | None:
        """What a run of this kind still takes that has had so many seconds."""
        samples = self._samples(kind)
        if not samples:
            return None
        longer = [took - gone for took in samples if took > gone]
        return WaitSpan.of(longer) if longer else WaitSpan(gone / 4, (gone / 4) ** 2)

    def _samples(self, kind: RunKind) -> list[float]:
        own = self._took.get(replace(kind, tokens=1), ())
        near = [took for tokens, took in own if kind.tokens / LIKE <= tokens <= kind.tokens * LIKE]
        if len(near) >= ENOUGH:
            return near
        alike = [k for k in self._took if (k.what, k.preset) == (kind.what, kind.preset)]
        return _scaled(own, kind.tokens) or _scaled((one for k in alike for one in self._took[k]), kind.tokens)


def _scaled(took: Iterable[tuple[int, float]], tokens: int) -> list[float]:
    return [seconds * tokens / asked for asked, seconds in took]
