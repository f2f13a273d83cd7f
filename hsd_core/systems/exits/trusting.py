"""Tokens of a sure exit that nobody judges, and the exit's threshold that moves (FREE, arXiv 2310.05424).

`climb` with `@by=gap` is FREE's shallow model: a token leaves at the exit whose two likeliest tokens are further apart
than theta; the layers above it are deferred. Where the exit is not sure, the level above runs them for all deferred
tokens in one pass (synchronised parallel decoding), so keys and values are exact, and with rule `trust` keeps every
token. The text follows the exit's row where that is sure, and the target's elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import lgamma, log
from statistics import fmean, pvariance

from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict
from hsd_core.core.tree import Tree

NEVER = 20.0  # nats; a bound from here on cuts nothing
PAIRS = 300  # that the two laws are fitted to, at most
GRID = [0.3 + 0.6 * i / 9 for i in range(10)]
SHARE = 0.4  # of agreement, above which a threshold is safe (the paper's zeta)


def trust(
    tree: Tree, p: Tensor, judge: Judge, bonus: bool, *, rollback: float = NEVER, scores: Tensor | None = None
) -> Verdict:
    """Keep a whole chain; then a token of the verifier's own. Arguments as in `tokenwise`, whose coins are thrown too,
    to know which tokens it would have rejected.

    Args:
        rollback: nats. The chain is cut at the first token whose -log p at temperature 1 is larger; at 0 the verifier
            draws every token itself, so the text is its own. scores: (n + 1, V) the verifier's logits.
    """
    ranks, n = (p.log() if scores is None else scores).log_softmax(-1), len(tree)
    alphas, coins = list[float | None](), list[float | None]()
    for t, id_ in enumerate(tree.ids):
        drawn = 1.0 if tree.rows is None else float(tree.rows[t, id_])
        alphas.append(min(1.0, float(p[t, id_]) / drawn) if drawn else 1.0)
        coins.append(judge.accept(alphas[-1] or 0.0, t)[1])
        if -float(ranks[t, id_]) > rollback < NEVER:
            rest = [None] * (n - t - 1)
            return Verdict(tuple(range(t)), judge.draw(p[t], t), (*alphas, *rest), (*coins, *rest), p[t])
    token = judge.draw(p[n], n) if bonus or not n else None
    return Verdict(tuple(range(n)), token, tuple(alphas), tuple(coins))


class MovingThreshold:
    """The threshold of an exit, fitted to how sure it was of tokens on which the target agreed, and of the others.

    The paper fits once a text, over the texts before it. A run has no other texts, so it fits after each verification.
    """

    def __init__(self, theta: float) -> None:
        self.theta = theta
        self._seen: deque[tuple[float, bool]] = deque(maxlen=PAIRS)

    def saw(self, sure: Sequence[float], agreed: Sequence[bool]) -> None:
        """Learn from verified tokens: the exit's gap, and whether the target's first choice was the same."""
        self._seen.extend(zip(sure, agreed, strict=True))
        same, other = ([gap for gap, agrees in self._seen if agrees is wanted] for wanted in (True, False))
        self.theta = crossing(same, other) or self.theta


def crossing(same: Sequence[float], other: Sequence[float]) -> float | None:
    """The first threshold on the grid where Beta_same / (Beta_same + Beta_other) exceeds `SHARE`, the last one if none
    does; None while a law cannot be fitted. same, other: gaps in [0, 1]."""
    laws = _beta(same), _beta(other)
    if None in laws:
        return None
    least = log(SHARE / (1 - SHARE))
    one, two = (law for law in laws if law is not None)
    return next((at for at in GRID if _density(at, *one) - _density(at, *two) > least), GRID[-1])


def _beta(values: Sequence[float]) -> tuple[float, float] | None:
    """(alpha, beta) of the law with the values' mean and variance; None if there is none."""
    if len(values) < 2 or not 0.0 < (spread := pvariance(values)) < (mean := fmean(values)) * (1 - mean):
        return None
    size = mean * (1 - mean) / spread - 1
    return mean * size, (1 - mean) * size


def _density(at: float, alpha: float, beta: float) -> float:
    """log of Beta(alpha, beta) at a point within (0, 1)."""
    shape = lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta)
    return shape + (alpha - 1) * log(at) + (beta - 1) * log(1 - at)
