"""The acceptance probability at one position: the maximum over exact rules, and that of the rule `tokenwise`.

Optimal multi-draft speculative decoding (arXiv 2502.18779): a rule that keeps p's distribution couples the candidates
with a token y of p and keeps one if y is among them. The best coupling is a linear programme, and its dual is a choice
of tokens: with Q(H) the probability that all candidates are within the set H,

    best = 1 + min over H of p(H) - Q(H)

Named candidates are fixed, so they are in H. For drawn ones the best H is a set of tokens with the least p/q; one pass
over the sorted tokens finds its size. It is a mean over the candidates that could be drawn, for a rule that judges each
position separately (`block` judges positions together).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Distribution = NDArray[np.float64]
HEAD = 1024  # tokens that H is chosen from if three or more candidates are drawn


class Reach(NamedTuple):
    """The probability that a candidate is kept: by `tokenwise` (None: not computed), and by the best exact rule."""

    rule: float | None
    best: float


def reach(
    p: Distribution, q: Distribution | None, drawn: int, named: Sequence[int] = (), *, repeats: bool = False
) -> Reach:
    """The acceptance probability at one position.

    Args:
        p: (V,) the verifier's distribution. q: (V,) the drafter's, before any candidate was removed; None if none is
        drawn. drawn: the number of candidates drawn from q without the named ones. named: candidates without a
        distribution. repeats: they are drawn with replacement.

    With three or more drawn without replacement the rule's probability is not computed, and H has tokens of the `HEAD`
    likeliest of q only: the result is an upper bound, too large by k q(others) at most.
    """
    p = p / p.sum()
    always = float(p[list(named)].sum())
    if q is not None:
        q = q.copy()
        q[list(named)] = 0.0
        drawn = min(drawn, drawn if repeats else int(np.count_nonzero(q)))
    if q is None or not drawn or not q.any():
        return Reach(always, always)
    q = q / q.sum()
    if drawn == 1:
        kept = always + float(np.minimum(p, q).sum())
        return Reach(min(1.0, kept), min(1.0, kept))
    by_rule = _again(p, q, drawn) if repeats else _twice(p, q) if drawn == 2 else None
    best = min(1.0, always + 1.0 + _cut(p, q, drawn, repeats))
    return Reach(None if by_rule is None else min(best, always + by_rule), best)


def _cut(p: Distribution, q: Distribution, k: int, repeats: bool) -> float:
    """min over H of p(H) - Q(H), the empty set included."""
    support = np.flatnonzero(q)
    if k > 2 and not repeats and len(support) > HEAD:
        support = support[np.argpartition(q[support], -HEAD)[-HEAD:]]
    order = support[np.argsort(p[support] / q[support])]
    inside = q[order]
    beyond = 1.0 - float(inside.sum()) if len(order) < np.count_nonzero(q) else 0.0
    outside = np.append(np.cumsum(inside[:0:-1])[::-1], 0.0) + beyond  # 1 - q(H), summed to keep small values exact
    if repeats:
        missed = -np.expm1(k * np.log1p(-np.minimum(outside, 1.0))) if len(order) else outside
    elif k == 2:
        missed = outside * (1.0 + np.cumsum(inside / _others(inside)))
    else:
        missed = _missed(inside, outside, k)
    return min(0.0, float((np.cumsum(p[order]) - 1.0 + missed).min()))


def _others(q: Distribution) -> Distribution:
    """1 - q of each token; for the likeliest one the sum of the others, as 1 - q would cancel."""
    others, top = 1.0 - q, int(q.argmax())
    others[top] = max(q[:top].sum() + q[top + 1 :].sum(), np.finfo(float).tiny) if q[top] > 0.5 else others[top]
    return others


def _missed(inside: Distribution, outside: Distribution, k: int) -> Distribution:
    """For every prefix H of tokens the probability that one of k draws without replacement is outside H.

    Give every token an exponential arrival time with rate q: the draws are the tokens in order of arrival. One of the
    first k is outside H if fewer than k tokens of H have arrived when the first other token arrives:

        integral over t of r e^(-r t) P(fewer than k of H by t),   r = 1 - q(H)

    by the trapezoidal rule over log t, accurate to about 1e-12; each step adds one token to the count's distribution.
    """
    step = 1 / 3
    t = np.exp(np.arange(-32.0, 4.0 - np.log(max(outside[outside > 0.0].min(initial=1.0), 1e-300)), step))
    weight = step * t
    counts = np.zeros((k, len(t)))  # of 0 .. k - 1 tokens
    counts[0] = 1.0
    missed = np.zeros(len(inside))
    for n, (rate, r) in enumerate(zip(inside, outside, strict=True)):
        waits = np.exp(-rate * t)
        comes = -np.expm1(-rate * t)
        counts[1:] = counts[1:] * waits + counts[:-1] * comes
        counts[0] *= waits
        missed[n] = float((weight * r * np.exp(-r * t) * counts.sum(0)).sum())
    return missed


def _again(p: Distribution, q: Distribution, k: int) -> float:
    """Recursive rejection of k candidates drawn with replacement."""
    left, kept = 1.0, 0.0
    for _ in range(k):
        shared = float(np.minimum(p, q).sum())
        kept += left * shared
        left *= 1.0 - shared
        p = np.maximum(p - q, 0.0)
        if not (mass := p.sum()):
            return 1.0
        p /= mass
    return kept


def _twice(p: Distribution, q: Distribution) -> float:
    """Recursive rejection of two candidates drawn without replacement.

    After a rejected x the distribution of the second is c q with c = 1 / (1 - q(x)), and it is kept with probability
    F(c) = sum over y of min(p'(y), c q(y)), where p' = norm(max(p - q, 0)) does not depend on x and has no mass there.
    """
    left = np.maximum(p - q, 0.0)
    mass = float(left.sum())
    if mass <= 0.0:
        return 1.0
    at = np.flatnonzero((left > 0.0) & (q > 0.0))
    residual, dist = left[at] / mass, q[at]
    order = np.argsort(residual / dist)
    ratios = (residual / dist)[order]
    below = np.append(0.0, np.cumsum(residual[order]))  # of residual, up to each ratio
    above = np.append(np.cumsum(dist[order][::-1])[::-1], 0.0)  # of q, from each ratio on
    rejected = np.flatnonzero(q > p)
    scale = 1.0 / _others(q)[rejected]
    place = np.searchsorted(ratios, scale)
    second = np.minimum(1.0, below[place] + np.where(above[place] > 0.0, scale * above[place], 0.0))
    return 1.0 - mass + float(((q - p)[rejected] * second).sum())
