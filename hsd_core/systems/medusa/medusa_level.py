"""Medusa: heads over the target's last state, one for each of the next tokens (arXiv 2401.10774); no draft model.

The last state of a full pass belongs to the position before the last committed token, which was drawn from it; so the
first head predicts the token behind that one. If a middle level has written tokens since, the heads for these are
skipped and the others draft; beyond the last head nothing is drafted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from hsd_core.core.level import Work
from hsd_core.levels.parallel_draft import AheadLevel, AheadRun, Copies
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, Layered, nearest
from hsd_core.models.cache import Cache
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


class MedusaRun(AheadRun):
    """Its cache holds the context's copies only. features: see `DraftRun`."""

    def __init__(self, heads: Heads, features: Sequence[Features], source: str) -> None:
        super().__init__(heads, heads.new_cache(0), heads.vocab_size, source)
        self._heads, self._trunks = heads, features

    def predict(self, context: Context, places: int) -> tuple[Tensor, Work]:
        """See `AheadRun.predict`."""
        trunk = nearest(self._trunks)
        depth = trunk.decoder.layers
        known = min(trunk.valid(depth), len(context) - 1)
        first = len(context) - 1 - known  # tokens since the one that was drawn from the last state
        self.cached = len(context)
        if known < 1 or first >= self._heads.ahead:
            return self.silent
        rows = self._heads.predict(trunk.hidden(depth, known - 1, known), self._cache, context, first)
        return rows, Work(1, len(rows), 0)


class MedusaLevel(AheadLevel):
    """Heads over `decoder`, the target's. They draft and never verify: their rows have not read any drafted token."""

    def __init__(self, decoder: Layered, heads: Heads, *, weights: dict[str, object] | None = None) -> None:
        label, params = f"Medusa, {heads.ahead} heads", {"readout": heads.name, "heads": heads.ahead}
        super().__init__(decoder, heads, "medusa", label, params, weights)

    def open(self, capacity: int, shared: SharedState) -> MedusaRun:
        return MedusaRun(self.draft, shared.features(), self.name)
