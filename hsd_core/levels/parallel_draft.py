"""Drafts of several tokens from one pass, which computes the rows of several positions after the context independently
of each other.

Each token is drawn from a distribution that depends on the past only, so every exact rule stays exact, for chains and
trees: the offers after any token of one depth are drawn from the one row of the next depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features
from hsd_core.models import Decoder
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Branches, path_to
from hsd_core.models.suffixes import Copied

FREE = Work(0, 0, 0)  # a row that is already computed


class Copies(Protocol):
    """Knows the origins of the tokens that it drafted."""

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """See `Readout.copied`; row: of the last pass."""
        ...


class _RowsOfOnePass:
    """Returns the rows of one pass depth by depth, like a level that computes them one after another."""

    cached = 0  # it has no cache

    def __init__(self, base: int, rows: Tensor, work: Work) -> None:
        self._base, self._rows, self._work, self.depth = base, rows, work, 0

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return self._at(len(context) - self._base, 1)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`: all new nodes have the same depth."""
        return self._at(len(path_to(len(ids) - 1, branches.parents)), max(1, new))

    def _at(self, depth: int, times: int) -> tuple[Tensor, Work]:
        self.depth = depth
        return self._rows[depth].expand(times, -1), FREE if depth else self._work

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
        rows_after: (n, V) logits of the next n positions after a context, given the most; n = 0 if the draft cannot
            read it. Called once, and only if anything is drafted.
    """
    if order.limit < 1 or order.stops(0, None):
        return Proposal((), (), FREE)
    rows, work = rows_after(context, order.limit)
    if not len(rows):
        return Proposal((), (), work)
    given = _RowsOfOnePass(len(context), rows, work)

    def copied(token: int, row: int = -1) -> Copied | None:
        return copies.copied(cache, token, given.depth)

    return draft(given, context, replace(order, limit=min(order.limit, len(rows))), source, copied)


class AheadRun:
    """The run of a draft that reads states of full passes and says the next tokens in one pass; it never verifies.

    cached: positions that it has read.
    """

    def __init__(self, draft: Copies, cache: Cache, vocab_size: int, source: str) -> None:
        self._draft, self._cache, self._source, self.cached = draft, cache, source, 0
        self.silent = torch.zeros(0, vocab_size), FREE

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft_in_one_pass(self.predict, self._draft, self._cache, context, order, self._source)

    def predict(self, context: Context, places: int) -> tuple[Tensor, Work]:
        """(n, V) logits of the next n positions, at most `places` of which are needed."""
        raise NotImplementedError

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """For the prompt, which it does not read; the level never verifies."""
        self.cached = len(context)
        return self.silent[0].new_zeros(1 + len(tree), self.silent[0].shape[1]), Work(1, 1, 0)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self.cached = min(self.cached, start)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the target's states are read when the next token is asked for."""

    def close(self) -> None:
        self._cache = Positions()


class AheadLevel(OverDecoder):
    """The level of such a draft over `decoder`, the target's. It never verifies: no row has read a drafted token.

    joined: the depths whose states it reads, if not only the last.
    """

    can_verify = has_cache = False

    def __init__(
        self,
        decoder: Decoder,
        draft: Any,
        name: str,
        label: str,
        params: dict[str, object],
        weights: dict[str, object] | None,
        joined: Sequence[int] = (),
    ) -> None:
        named = {"name": name, "kind": name, "label": label}
        super().__init__(decoder, **named, layers=0, params=params, weights=weights, fed=True)
        self.decoder, self.draft, self._joined = decoder, draft, joined

    def enter(self, shared: SharedState) -> Features:
        """The trunk whose states it reads."""
        return shared.features(self._joined)[0]
