"""APD's rule (arXiv 2506.00413): a left-to-right model says how far the cells of one pass may be believed. Lossy.

The draft x_t is a draw from the diffusion model's row m_t by Gumbel-max; cell t is kept if the same noise draws x_t
from the mixture norm(m^R p^(1 - R)) with the reader's row p. That happens, given x, with probability

    1 / sum_y max(q_y / q_x, m_y / m_x) / m_x,   q the mixture

so no noise needs to be kept. The first cell is always kept, and nothing replaces a rejected one: the next pass fills
its cell. With R = 1 everything is kept, and with one cell a pass the text is the diffusion model's own.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict, tokenwise
from hsd_core.core.tree import Tree
from hsd_core.models.sampling import Distributions, OneHot


def mixture(m: Tensor, p: Tensor, r: float) -> Tensor:
    """norm(m^r p^(1 - r)) of two (V,) rows; zeros where no token has both."""
    if r in (0.0, 1.0):
        return m if r else p
    both = m**r * p ** (1.0 - r)
    total = both.sum()
    return both / total if float(total) > 0.0 else both


def believed(m: Tensor, q: Tensor, x: int) -> float:
    """The probability that the noise which drew x from m draws it from q too."""
    if float(q[x]) <= 0.0 or float(m[x]) <= 0.0:
        return 0.0
    return min(1.0, 1.0 / float(torch.maximum(q / q[x], m / m[x]).sum()) / float(m[x]))


def apd(tree: Tree, p: Distributions, judge: Judge, bonus: bool, *, r: float, scores: Tensor | None = None) -> Verdict:
    """Keep the first cell, then cells as long as they are believed; see above. Arguments as `rules.tokenwise`; without
    a draft the verifier's own token is drawn.

    Args:
        r: the diffusion model's share in the mixture. scores: the verifier's logits, which greedy runs mix: only
            they need them.
    """
    n, greedy = len(tree), isinstance(p, OneHot)
    if not n:
        return tokenwise(tree, p, judge, bonus)
    drawn = tree.rows if tree.logits is None or not greedy else tree.logits.values.softmax(-1)
    rows = p if isinstance(p, Tensor) else cast(Tensor, scores).softmax(-1)
    alphas, coins = [1.0], list[float | None]([None] * n)
    mixed = [rows[0]]
    for t in range(1, n):
        m = torch.zeros_like(rows[t]) if drawn is None else drawn[t]
        if drawn is None:
            m[tree.ids[t]] = 1.0
        q = mixture(m.to(rows.dtype), rows[t], r)
        mixed.append(q)
        alphas.append(float(int(q.argmax()) == tree.ids[t]) if greedy else believed(m, q, tree.ids[t]))
    for t in range(n):
        kept, coins[t] = judge.accept(alphas[t], t)
        if not kept:
            return Verdict(tuple(range(t)), None, tuple(alphas), tuple(coins), mixed[t])
    return Verdict(tuple(range(n)), None, tuple(alphas), tuple(coins))
