"""Rules that keep more than an exact one: `kl`, `cascade`, `typical`, `longest`.

`kl` and `cascade` throw the coin of `tokenwise` first, and may keep the token if it is rejected: `Verdict.alphas` and
`coins` are the exact rule's, so a kept token whose coin is not below its alpha is one that was spared.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict, followed, greedy, tokenwise
from hsd_core.core.tree import Offer, Tree
from hsd_core.levels.sparing import sparing
from hsd_core.models.sampling import Distributions, OneHot, dense, largest, one_hot, softmax


def drafts_row(tree: Tree, offer: Offer, like: Tensor) -> Tensor:
    """(V,) the drafter's distribution at temperature 1, also where it drafts greedily; one-hot for a named token."""
    if offer.row is not None and tree.logits is not None:
        return softmax(tree.logits[[offer.row]].on_host())[0]
    if offer.row is not None and tree.rows is not None:
        return tree.rows[offer.row]
    return one_hot(like.new_tensor([tree.ids[offer.node]]).long(), like)[0]


def own_rows(p: Distributions, scores: Tensor | None) -> Tensor:
    """(r, V) the verifier's distributions at temperature 1, also where it decodes greedily."""
    return dense(p) if scores is None else softmax(scores.cpu())


def kl(
    tree: Tree, p: Distributions, judge: Judge, bonus: bool, *, tau: float = 0.3, scores: Tensor | None = None
) -> Verdict:
    """Also keep a token where KL(q || p) < tau nats, both at temperature 1 (training-free loosely, arXiv 2601.04766).

    For a named token that is -log p(x). With tau = 0 it is `tokenwise`. Arguments as in `tokenwise`.

    Args:
        scores: the verifier's logits.
    """

    def near(place: int, offer: Offer) -> bool:
        q = drafts_row(tree, offer, rows)
        there = q > 0.0
        return float((q[there] * (q[there] / rows[place][there]).log()).sum()) < tau

    rows = own_rows(p, scores)
    return sparing(tree, p, judge, bonus, near if tau > 0.0 else lambda place, offer: False)


def cascade(
    tree: Tree, p: Distributions, judge: Judge, bonus: bool, *, cost: float = 0.0, scores: Tensor | None = None
) -> Verdict:
    """Also keep a token where max q > max p - cost TV(p, q), both at temperature 1: the deferral rule OPT of
    speculative cascades (arXiv 2405.19261), which leaves such places to the drafter.

    With cost = -1 it is `tokenwise`, as max q - max p <= TV(p, q). Named tokens are judged exactly: they have no q.
    Arguments as in `kl`.
    """

    def sure(place: int, offer: Offer) -> bool:
        if offer.row is None:
            return False
        q, own = drafts_row(tree, offer, rows), rows[place]
        return float(q.max() - own.max() + cost * (own - q).clamp_min(0.0).sum()) > 0.0

    rows = own_rows(p, scores)
    return sparing(tree, p, judge, bonus, sure if cost > -1.0 else lambda place, offer: False)


def typical(tree: Tree, p: Distributions, judge: Judge, bonus: bool, *, eps: float = 0.09) -> Verdict:
    """Keep the longest path of tokens with p(x) > min(eps, sqrt(eps) exp(-H(p))); then a token drawn from p.

    Medusa's typical acceptance (arXiv 2401.10774, section 2.3.1), with its delta = sqrt(eps). No coin is thrown and q
    is not read. A greedy p has H = 0: the rule is then `greedy`. Arguments as in `tokenwise`.
    """
    if isinstance(p, OneHot):
        return greedy(tree, p, judge, bonus)
    entropy = -(p * p.clamp_min(1e-30).log()).sum(-1)
    least = (eps**0.5 * (-entropy).exp()).clamp_max(eps).tolist()
    path, alphas, fork, places = followed(tree, bonus, lambda row, token: float(p[row][token]) > least[row])
    rejected, row = fork in tree.forks, p[places[fork]] if fork in places else None
    token = judge.draw(row, len(path)) if row is not None and (rejected or bonus or not len(tree)) else None
    return Verdict(tuple(path), token, alphas, (None,) * len(alphas), row if rejected else None)


class ToothJudge:
    """The choices of one tooth of a comb: its first token is kept without a coin; what it draws is left undrawn."""

    def __init__(self, judge: Judge, number: int) -> None:
        self._judge, self._number = judge, number

    def accept(self, alpha: float, depth: int, place: int = 0) -> tuple[bool, float | None]:
        """See `Judge.accept`. Every tooth has coins of its own."""
        if depth == 0:
            return place == self._number, None
        return self._judge.accept(alpha, depth, place + (self._number << 16))

    def draw(self, row: Tensor, depth: int) -> int:
        self.row = row
        return -1


def longest(
    tree: Tree, p: Distributions, judge: Judge, bonus: bool, *, first: int = 3, scores: Tensor | None = None
) -> Verdict:
    """Keep the longest path behind any first token that is among the verifier's `first` likeliest: that token itself is
    not judged, what follows it is judged by `tokenwise`, and of equally long paths the first offered stays.

    The comb of Improving MCSD (arXiv 2409.10644). With first = 1 it is `tokenwise`. Where no first token is so likely
    the whole tree is judged by `tokenwise`. Arguments as in `kl`.
    """
    rows, heads = dense(p), tree.forks.get(-1, [])
    best = largest((rows if scores is None else scores)[:1], first)[1][0].tolist() if first > 1 else []
    teeth = [number for number, o in enumerate(heads) if tree.ids[tree.offers[o].node] in best]
    if not teeth:
        return tokenwise(tree, p, judge, bonus)
    judges = [ToothJudge(judge, number) for number in teeth]
    found = [tokenwise(tree, rows, own, bonus) for own in judges]  # type: ignore[arg-type]
    won = max(range(len(found)), key=lambda one: len(found[one].path))
    verdict, number = found[won], teeth[won]
    alphas, coins = list(verdict.alphas), list(verdict.coins)
    for at, o in enumerate(heads):
        alphas[o], coins[o] = (float(rows[0][tree.ids[tree.offers[o].node]]) if at <= number else None), None
    token = None if verdict.token is None else judge.draw(judges[won].row, len(verdict.path))
    return replace(verdict, token=token, alphas=tuple(alphas), coins=tuple(coins))
