"""What rules that keep more than `tokenwise` are made of: its coin comes first, and a token that it rejects may be
kept all the same.

`Verdict.alphas` and `coins` are the exact rule's, so a kept token whose coin is not below its alpha is a spared one.
"""

from __future__ import annotations

from collections.abc import Callable

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict, rows_of, tokenwise
from hsd_core.core.tree import Offer, Tree
from hsd_core.models.sampling import Distributions, dense

Spares = Callable[[int, Offer], bool]  # (index of the verifier's row, an offer that it rejects) -> keep it all the same


class SparingJudge:
    """The choices of one verification, with which a token that its coin rejects is kept if `spares` says so."""

    def __init__(self, judge: Judge, tree: Tree, bonus: bool, spares: Spares) -> None:
        self._judge, self._tree, self._spares = judge, tree, spares
        self._places, self._fork = rows_of(tree, bonus), -1
        self.draw = judge.draw

    def accept(self, alpha: float, depth: int, *place: int) -> tuple[bool, float | None]:
        """See `Judge.accept`; the coin is that of the exact rule."""
        offer = self._tree.offers[self._tree.forks[self._fork][sum(place)]]
        kept, coin = self._judge.accept(alpha, depth, *place)
        if kept := kept or self._spares(self._places[self._fork], offer):
            self._fork = offer.node
        return kept, coin


def sparing(tree: Tree, p: Distributions, judge: Judge, bonus: bool, spares: Spares) -> Verdict:
    """`tokenwise` with the tokens that `spares` names kept too."""
    own: Judge = SparingJudge(judge, tree, bonus, spares)  # type: ignore[assignment]
    return tokenwise(tree, dense(p), own, bonus)
