"""The Bayesian search for sublayers to leave out, beside the greedy one of `search`.

Draft & Verify (arXiv 2309.08168, section 3.2) lets a Gaussian process predict how good a set is from the sets that were
read, and reads the most promising one next. Its process sees 2L numbers between 0 and 1, rounded to a set; this one
sees the set itself: Matern 5/2 of the square root of how many sublayers differ. Promising is the expected improvement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsd_core.models.lean.sublayers import Sublayers
from hsd_core.systems.skip.search import DIGITS, Agreement, ResumeFile, Weights, reads_of

Array = NDArray[np.float64]
FIRST = 20  # sets at random, before the process predicts
BETWEEN = 20  # reads between two choices of the process's length and noise
LENGTHS = 1.0, 2.0, 4.0, 8.0
NOISES = 1e-4, 1e-2, 1e-1  # as a share of the variance of what was read
NEAR, ANYWHERE = 600, 100  # sets that compete for the next read: changes of the best ones, and random ones


@dataclass(frozen=True, slots=True)
class Found:
    """The best set of a search: its agreement, the share of weights read, and how many sets were read."""

    without: Sublayers
    agree: float
    left: float
    reads: int


def bayes_search(
    read: Callable[[Sublayers], float],
    sublayers: Sequence[tuple[str, int]],
    weights: Weights,
    most_left: float,
    reads: int,
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Found:
    """The set with the best agreement among those that read at most the share `most_left` of the weights.

    Args:
        read: the agreement without a set, 0 to 1. reads: how many sets may be read.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array([weights.one(kind) / weights.whole for kind, _ in sublayers])
    spare = 1.0 - most_left - 0.1**DIGITS  # the greedy search's shares are rounded

    def enough(bits: Array) -> Array:
        """The set with more left out at random, until it is small enough."""
        more = iter(rng.permutation(np.flatnonzero(bits == 0)))
        while float(bits @ sizes) < spare:
            bits[next(more)] = 1.0
        return bits

    known: dict[bytes, float] = {}
    points: list[Array] = []
    process = _Process(LENGTHS[1], NOISES[1])
    while len(points) < reads:
        values = np.array([known[one.tobytes()] for one in points])
        if len(points) < FIRST:
            chosen = enough(np.zeros(len(sublayers)))
        else:
            seen = np.array(points)
            if not (len(points) - FIRST) % BETWEEN:
                process = _likeliest(seen, values)
            best = seen[np.argsort(-values, kind="stable")[:5]]
            near = best[rng.integers(len(best), size=NEAR)]
            flips = rng.random(near.shape) < rng.choice([1, 2, 4], size=(NEAR, 1)) / near.shape[1]
            some = [enough(one) for one in np.abs(near - flips)]
            some += [enough(np.zeros(len(sublayers))) for _ in range(ANYWHERE)]
            new = np.array([one for one in some if one.tobytes() not in known] or [enough(np.zeros(len(sublayers)))])
            chosen = new[int(process.improvement(seen, values, new).argmax())]
        points.append(chosen)
        if chosen.tobytes() not in known:
            known[chosen.tobytes()] = read(_set(chosen, sublayers))
        progress()
    top = max(points, key=lambda one: (known[one.tobytes()], float(one @ sizes)))
    without = _set(top, sublayers)
    return Found(without, known[top.tobytes()], round(weights.share_left(without), DIGITS), len(points))


def beside(
    agrees: Agreement,
    weights: Weights,
    path: Sequence[Mapping[str, Any]],
    count: int,
    kept: ResumeFile,
    progress: Callable[[str], None] = lambda said: None,
) -> dict[str, Any]:
    """The best set that a Bayesian search finds with as many reads as the first `count` steps of a greedy path took,
    and at least as small as they are; beside the agreement of those."""
    sublayers = list(agrees.sublayers())
    found = bayes_search(
        lambda without: kept.read(without, lambda: agrees.begin(without)),
        sublayers,
        weights,
        path[count - 1]["left"],
        reads_of(len(sublayers), count),
        progress=lambda: progress(f"beside step {count}"),
    )
    out = {"attention": sorted(found.without.attention), "mlp": sorted(found.without.mlp)}
    return {
        "steps": count,
        "reads": found.reads,
        "greedy": path[count - 1]["agree"],
        **out,
        "agree": found.agree,
        "left": found.left,
    }


def compared(found: Mapping[str, Any]) -> str:
    """A result of `beside` in a sentence."""
    ours, theirs = f"{found['greedy']:.2f}", f"{found['agree']:.2f}"
    wins = "neither" if ours == theirs else "greedy steps" if found["greedy"] > found["agree"] else "the latter"
    return (
        f"By {found['reads']} reads, as few weights as {found['steps']} left out: agreement {ours} by greedy steps, "
        f"{theirs} by Bayesian search; {wins} won."
    )


def _set(bits: Array, sublayers: Sequence[tuple[str, int]]) -> Sublayers:
    return Sublayers.of(one for one, out in zip(sublayers, bits, strict=True) if out)


@dataclass(frozen=True, slots=True)
class _Process:
    """A Gaussian process over sets; values are scaled to mean 0 and variance 1."""

    length: float
    noise: float

    def kernel(self, a: Array, b: Array) -> Array:
        """(n, m) of (n, 2L) and (m, 2L) sets."""
        differ = a @ (1.0 - b.T) + (1.0 - a) @ b.T
        r = np.sqrt(5.0 * np.maximum(differ, 0.0)) / self.length
        k: Array = (1.0 + r + r * r / 3.0) * np.exp(-r)
        return k

    def evidence(self, seen: Array, values: Array) -> float:
        """The logarithm of the marginal likelihood, up to a constant."""
        y = _scaled(values)
        whole = self.kernel(seen, seen) + self.noise * np.eye(len(seen))
        return float(-0.5 * y @ np.linalg.solve(whole, y) - 0.5 * np.linalg.slogdet(whole)[1])

    def improvement(self, seen: Array, values: Array, new: Array) -> Array:
        """The expected improvement of each new set over the best one seen, (m,), in scaled values."""
        y = _scaled(values)
        inverse = np.linalg.inv(self.kernel(seen, seen) + self.noise * np.eye(len(seen)))
        cross = self.kernel(new, seen)
        mean = cross @ (inverse @ y)
        deviation = np.sqrt(np.maximum(1.0 - ((cross @ inverse) * cross).sum(1), 1e-12))
        z = (mean - y.max()) / deviation
        below = np.array([0.5 * math.erfc(-one / math.sqrt(2.0)) for one in z])
        found: Array = deviation * (z * below + np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
        return found


def _scaled(values: Array) -> Array:
    scaled: Array = (values - values.mean()) / (values.std() or 1.0)
    return scaled


def _likeliest(seen: Array, values: Array) -> _Process:
    return max((_Process(a, b) for a in LENGTHS for b in NOISES), key=lambda one: one.evidence(seen, values))
