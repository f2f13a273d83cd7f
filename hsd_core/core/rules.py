"""Verification rules: how a verifier decides which drafted tokens to keep.

Notation follows Leviathan et al. 2023 (arXiv 2211.17192): q is the drafter's distribution, p the verifier's. A rule
sees rows on the host, never models, and takes every random choice from the `Judge` it is given. All formulas hold for
one-hot rows p (greedy decoding). A named token is judged like a draw from a one-hot q: its alpha is p(x).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.tree import Offer, Tree
from hsd_core.models.sampling import Distributions, OneHot, likeliest, one_hot


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule decided about a tree of n drafted tokens.

    path: the kept nodes, by depth. token: the token after them; None if a leaf was kept and no bonus was wanted.
    alphas, coins: by offer, in the tree's order: its acceptance probability and the uniform number drawn; None for an
    offer that was not judged (on a chain every alpha is known) and where no number was drawn. residual: (V,) the
    distribution of the correction, or a `OneHot` of one row; None if nothing was rejected at the end of the path.
    """

    path: tuple[int, ...]
    token: int | None
    alphas: tuple[float | None, ...]
    coins: tuple[float | None, ...]
    residual: Tensor | OneHot | None = None

    @property
    def accepted(self) -> int:
        """How many tokens were kept."""
        return len(self.path)


Rule = Callable[..., Verdict]  # the arguments of `tokenwise`, and keyword arguments of its own


def tokenwise(tree: Tree, p: Distributions, judge: Judge, bonus: bool) -> Verdict:
    """Keep x with probability min(1, p/q); correct the first reject from norm(max(p - q, 0)).

    On a chain: Leviathan et al. 2023, algorithm 1. On a tree: the offers of a fork are judged in turn, and each reject
    replaces p by norm(max(p - q, 0)) (recursive rejection); a sibling drawn without replacement is removed from q.

    Args:
        p: (n + 1, V) verifier rows: row 0 after the context, row j + 1 after node j. Without a bonus the rows of the
            inner nodes, in their order, are enough.
        bonus: draw one more token if a leaf was kept. Without any node a token is always drawn.
    """
    if isinstance(p, OneHot):
        return greedy(tree, p, judge, bonus)  # the same result, without reading a row
    return _chain_tokenwise(tree, p, judge, bonus) if tree.is_chain else _tree_tokenwise(tree, p, judge, bonus)


def _chain_tokenwise(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
    n = len(tree)
    alphas = _ratios(tree, p)
    coins: list[float | None] = [None] * n
    for t in range(n):
        kept, coins[t] = judge.accept(alphas[t], t)
        if not kept:
            residual = _without(p[t], tree.ids[t]) if tree.rows is None else _residual(p[t], tree.rows[t])
            return Verdict(tuple(range(t)), judge.draw(residual, t), tuple(alphas), tuple(coins), residual)
    token = judge.draw(p[n], n) if bonus or n == 0 else None
    return Verdict(tuple(range(n)), token, tuple(alphas), tuple(coins))


def _tree_tokenwise(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
    alphas: list[float | None] = [None] * len(tree.offers)
    coins: list[float | None] = [None] * len(tree.offers)
    places = rows_of(tree, bonus)
    path: list[int] = []
    fork = -1
    while at := tree.forks.get(fork):
        row, depth, offers = p[places[fork]], len(path), [tree.offers[o] for o in at]
        q = drawn_from(tree, offers)
        for place, (o, offer) in enumerate(zip(at, offers, strict=True)):
            token = tree.ids[offer.node]
            chance = float(row[token])
            if offer.row is not None and q is not None:
                chance = _ratio(chance, float(q[token]))
            kept, coins[o] = judge.accept(chance, depth, place)
            alphas[o] = chance
            if kept:
                path.append(fork := offer.node)
                break
            if offer.row is None or q is None:
                row = _without(row, token)
            else:
                row = _residual(row, q)
                q = q if tree.repeats else _without(q, token)
        else:
            return Verdict(tuple(path), judge.draw(row, depth), tuple(alphas), tuple(coins), row)
    token_ = judge.draw(p[places[fork]], len(path)) if bonus or not len(tree) else None
    return Verdict(tuple(path), token_, tuple(alphas), tuple(coins))


def greedy(tree: Tree, p: Distributions, judge: Judge, bonus: bool) -> Verdict:
    """Keep the longest path of the verifier's own argmaxes; then its argmax.

    Exact for a greedy target. At a temperature above 0 it makes the stack lossy.
    Arguments as in `tokenwise`.
    """
    best = p.ids if isinstance(p, OneHot) else likeliest(p).tolist()
    path, alphas, fork, places = followed(tree, bonus, lambda place, token: token == best[place])
    rejected = fork in tree.forks
    token = best[places[fork]] if rejected or bonus or not len(tree) else None
    residual = OneHot([best[places[fork]]], p.like if isinstance(p, OneHot) else p) if rejected else None
    return Verdict(tuple(path), token, alphas, (None,) * len(alphas), residual)


def match(tree: Tree, p: Distributions, judge: Judge, bonus: bool) -> Verdict:
    """Draw a token from p at every position and continue with the offer that equals it; the first draw without such an
    offer is the verifier's token.

    Every token is drawn from p, so the text is exact for any offers: named, drawn, or selected by their probabilities.
    Drawn drafts are accepted less often than by `tokenwise`: with probability sum p q instead of sum min(p, q).
    Arguments as in `tokenwise`.
    """
    if isinstance(p, OneHot):
        return greedy(tree, p, judge, bonus)
    alphas: list[float | None] = [None] * len(tree.offers)
    places, path, fork = rows_of(tree, bonus), list[int](), -1
    if tree.is_chain:
        alphas = [float(p[t][token]) for t, token in enumerate(tree.ids)]
    while at := tree.forks.get(fork):
        row = p[places[fork]]
        own = judge.draw(row, len(path))
        for o in at:
            node = tree.offers[o].node
            alphas[o] = float(row[tree.ids[node]])
            if tree.ids[node] == own:
                path.append(fork := node)
                break
        else:
            return Verdict(tuple(path), own, tuple(alphas), (None,) * len(alphas), row)
    token = judge.draw(p[places[fork]], len(path)) if bonus or not len(tree) else None
    return Verdict(tuple(path), token, tuple(alphas), (None,) * len(alphas))


def block(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
    """Accept the longest prefix of a chain that the joint distribution allows (block verification; arguments as
    `tokenwise`).

    Sun et al. 2024 (arXiv 2403.10444), algorithm 2.

        w_0 = 1,  w_t = min(1, w_{t-1} p_t(x_t) / q_t(x_t))
        h_n = w_n,  h_t = S_t / (S_t + 1 - w_t),  S_t = sum_x max(w_t p_{t+1}(x) - q_{t+1}(x), 0)

    Scan t = n, n-1, ..., 1 and keep the first t whose coin falls below h_t. The correction comes from
    norm(max(w p - q, 0)) with the weight w at the cut.

    Raises:
        ValueError: the tree is not a chain; the rule is defined for chains only.
    """
    if not tree.is_chain:
        raise ValueError("rule block judges chains of tokens, not trees; use rule tokenwise above this drafter")
    n = len(tree)
    q = one_hot(torch.tensor(tree.ids), p) if tree.rows is None else tree.rows
    weights = [1.0]
    for ratio in _ratios(tree, p, capped=False):
        weights.append(min(1.0, weights[-1] * ratio))
    alphas = [_block_acceptance(t, n, weights[t], q, p) for t in range(1, n + 1)]
    coins: list[float | None] = [None] * n
    accepted = 0
    for t in range(n, 0, -1):
        kept, coins[t - 1] = judge.accept(alphas[t - 1], t - 1)
        if kept:
            accepted = t
            break
    path = tuple(range(accepted))
    if accepted < n:
        residual = _residual(weights[accepted] * p[accepted], q[accepted], fallback=p[accepted])
        return Verdict(path, judge.draw(residual, accepted), tuple(alphas), tuple(coins), residual)
    token = judge.draw(p[n], n) if bonus or n == 0 else None
    return Verdict(path, token, tuple(alphas), tuple(coins))


def rows_of(tree: Tree, bonus: bool) -> Mapping[int, int]:
    """Fork -> the index of the verifier's row after it; fork -1 is the end of the context."""
    if bonus or not len(tree):
        return {node: node + 1 for node in range(-1, len(tree))}
    return {node: place + 1 for node, place in tree.inner()[1].items()}


def followed(
    tree: Tree, bonus: bool, keeps: Callable[[int, int], bool]
) -> tuple[list[int], tuple[float | None, ...], int, Mapping[int, int]]:
    """The path of a rule without coins; `keeps(row, token)`: whether the verifier's row with that index keeps a token.

    Returns:
        the path, each offer's alpha, the fork at the end of the path, and `rows_of`.
    """
    places = rows_of(tree, bonus)
    if tree.is_chain:  # every alpha of a chain is known
        known = [float(keeps(t, token)) for t, token in enumerate(tree.ids)]
        kept = [*known, 0.0].index(0.0)
        return list(range(kept)), tuple(known), kept - 1, places
    alphas: list[float | None] = [None] * len(tree.offers)
    path: list[int] = []
    fork = -1
    while at := tree.forks.get(fork):
        for o in at:
            node = tree.offers[o].node
            alphas[o] = float(keeps(places[fork], tree.ids[node]))
            if alphas[o]:
                path.append(fork := node)
                break
        else:
            break
    return path, tuple(alphas), fork, places


def drawn_from(tree: Tree, offers: list[Offer]) -> Tensor | None:
    """The distribution of a fork's drawn children: their row without its named children."""
    row = next((offer.row for offer in offers if offer.row is not None), None)
    if row is None or tree.rows is None:
        return None
    q = tree.rows[row]
    for offer in offers:
        if offer.row is None:
            q = _without(q, tree.ids[offer.node])
    return q


def _ratio(p: float, q: float) -> float:
    """min(1, p/q). With q = 0 a token is accepted if p > 0."""
    return min(1.0, p / q) if q > 0.0 else float(p > 0.0)


def _ratios(tree: Tree, p: Tensor, capped: bool = True) -> list[float]:
    """p_t(x_t) / q_t(x_t) along a chain, at most 1 if capped. With q = 0 a token is accepted if p > 0."""
    n = len(tree)
    if not n:
        return []
    ids = torch.tensor(tree.ids).unsqueeze(1)
    mine = p[:n].gather(1, ids)
    if tree.rows is None:
        return mine.squeeze(1).tolist()  # type: ignore[no-any-return]
    chances = torch.cat((mine, tree.rows.gather(1, ids)), 1).tolist()
    ratios = [a / b if b > 0.0 else (sys.float_info.max if a > 0.0 else 0.0) for a, b in chances]
    return [min(1.0, r) for r in ratios] if capped else ratios


def _without(row: Tensor, token: int) -> Tensor:
    """A distribution without one of its tokens; unchanged if no other token has any mass."""
    rest = row.clone()
    rest[token] = 0.0
    mass = rest.sum()
    return rest / mass if float(mass) > 0.0 else row


def _residual(p: Tensor, q: Tensor, fallback: Tensor | None = None) -> Tensor:
    """norm(max(p - q, 0)); p itself if rounding left no mass (then p equals q, and p is the right distribution)."""
    positive = (p - q).clamp_min(0.0)
    mass = positive.sum()
    if float(mass) > 0.0:
        return positive / mass
    return p if fallback is None else fallback


def _block_acceptance(t: int, n: int, weight: float, q: Tensor, p: Tensor) -> float:
    """h_t of `block`: the probability to stop at prefix t, given that no longer prefix was kept."""
    if t == n:
        return weight
    spare = float((weight * p[t] - q[t]).clamp_min(0.0).sum())
    kept = spare + (1.0 - weight)
    # weight 1 and no spare mass: p_{t+1} equals q_{t+1}, and a longer prefix is always kept.
    return spare / kept if kept > 0.0 else 1.0
