"""Medusa: heads over the target's last state, one for each of the next tokens (arXiv 2401.10774); no draft model.

The last state of a full pass belongs to the position before the last committed token, which was drawn from it; so the
first head predicts the token behind that one. If a middle level has written tokens since, the heads for these are
skipped and the others draft; beyond the last head nothing is drafted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.parallel_draft import Copies, draft_in_one_pass
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk, nearest
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context


class Heads(Copies, Protocol):
    """Trained heads: `DraftHeads`, `CompiledHeads`."""

    name: str
    layers: int
    hidden: int
    vocab_size: int
    ahead: int

    def new_cache(self, capacity: int) -> Cache: ...

    def predict(self, state: Tensor, cache: Cache, line: Sequence[int], first: int) -> Tensor:
        """See `DraftHeads.predict`."""
        ...

    def weight_bytes(self) -> int: ...


class MedusaRun:
    """Its cache holds the context's copies only. features: see `DraftRun`."""

    def __init__(self, heads: Heads, features: Sequence[Trunk], source: str) -> None:
        self._heads, self._trunks, self._source = heads, features, source
        self._cache = heads.new_cache(0)
        self.cached = 0

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft_in_one_pass(self._predict, self._heads, self._cache, context, order, self._source)

    def _predict(self, context: Context, places: int) -> tuple[Tensor, Work]:
        trunk = nearest(self._trunks)
        depth = trunk.decoder.layers
        known = min(trunk.valid(depth), len(context) - 1)
        first = len(context) - 1 - known  # tokens since the one that was drawn from the last state
        self.cached = len(context)
        if known < 1 or first >= self._heads.ahead:
            return torch.zeros(0, self._heads.vocab_size), Work(0, 0, 0)
        rows = self._heads.predict(trunk.hidden(depth, known - 1, known), self._cache, context, first)
        return rows, Work(1, len(rows), 0)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """For the prompt, which it does not read; the level never verifies."""
        self.cached = len(context)
        return torch.zeros(1 + len(tree), self._heads.vocab_size), Work(1, 1, 0)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self.cached = min(self.cached, start)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the target's states are read when the next token is asked for."""

    def close(self) -> None:
        self._cache = Positions()


class MedusaLevel(OverDecoder):
    """Heads over `decoder`, the target's. They draft and never verify: their rows have not read any drafted token."""

    can_verify = has_cache = False

    def __init__(self, decoder: Layered, heads: Heads, *, weights: dict[str, object] | None = None) -> None:
        label, params = f"Medusa, {heads.ahead} heads", {"readout": heads.name, "heads": heads.ahead}
        named = {"name": "medusa", "kind": "medusa", "label": label}
        super().__init__(decoder, **named, layers=0, params=params, weights=weights, fed=True)
        self.decoder, self.draft = decoder, heads

    def enter(self, shared: SharedState) -> Trunk | None:
        """The trunk whose last states it reads."""
        return shared.features()[0]

    def open(self, capacity: int, shared: SharedState) -> MedusaRun:
        return MedusaRun(self.draft, shared.features(), self.name)
