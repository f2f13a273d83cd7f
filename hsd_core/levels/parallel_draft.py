"""Drafts of several tokens from one pass: it gives the rows of several places behind the context, none of which has
read the others.

Each token is still drawn from a distribution that the past alone decides, so every exact rule stays exact, on a chain
and on a tree: the offers behind whatever token stands at a place are drawn from the one row of the next place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from torch import Tensor

from hsd_core.core.level import DraftOrder, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.models.cache import Cache
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Branches, path_to
from hsd_core.models.suffixes import Copied

FREE = Work(0, 0, 0)  # a row that is there already


class Copies(Protocol):
    """Knows where the tokens that it drafted were copied from."""

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """See `Readout.copied`; row: of the last pass."""
        ...


class _RowsOfOnePass:
    """Hands the rows of one pass out, place by place, as a level does that computes them one after another."""

    cached = 0  # it keeps nothing

    def __init__(self, base: int, rows: Tensor, work: Work) -> None:
        self._base, self._rows, self._work, self.place = base, rows, work, 0

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return self._at(len(context) - self._base, 1)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`: all that is new stands equally deep."""
        return self._at(len(path_to(len(ids) - 1, branches.parents)), max(1, new))

    def _at(self, place: int, times: int) -> tuple[Tensor, Work]:
        self.place = place
        return self._rows[place].expand(times, -1), FREE if place else self._work

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do."""

    def observe(self, outcome: object) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def draft_in_one_pass(
    rows_after: Callable[[Context, int], tuple[Tensor, Work]],
    copies: Copies,
    cache: Cache,
    context: Context,
    order: DraftOrder,
    source: str,
) -> Proposal:
    """A chain, or a tree where one is asked for, at most as deep as there are rows.

    Args:
        rows_after: the (places, V) logits behind a context, of at most this many places; none where the draft cannot
            read it. Called once, and only if anything is to be drafted.
    """
    if order.limit < 1 or order.stops(0, None):
        return Proposal((), (), FREE)
    rows, work = rows_after(context, order.limit)
    if not len(rows):
        return Proposal((), (), work)
    given = _RowsOfOnePass(len(context), rows, work)

    def copied(token: int, row: int = -1) -> Copied | None:
        return copies.copied(cache, token, given.place)

    return draft(given, context, replace(order, limit=min(order.limit, len(rows))), source, copied)
