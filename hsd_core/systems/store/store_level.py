"""kNN-LM as a level, and a draft that looks in a small cache of the same store (RaLMSpec, arXiv 2401.14021).

Both are read-outs over one trunk: the target's last states, turned into the model's own words mixed with what followed
like states in a text (`neighbours.py`). The target asks the store. The draft asks the places that the target's
queries returned in this run, so verifying it takes one query for all of its tokens, and no layer but for the row
behind the last one. What the draft hands up are the rows that it drew from, so any rule stays exact, whatever lies in
the cache; the paper compares tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from hsd_core.core.level import Work
from hsd_core.core.notes import noted
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.readout import TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.one_pass import Branches
from hsd_core.systems.store.mixture import Mixing, Mixture
from hsd_core.systems.store.neighbours import Shelf, Store


class CachedRun(TrunkRun):
    """The draft's state: as that of a level that runs all layers."""

    def __init__(self, trunk: Trunk, source: Store | Shelf, mixing: Mixing, name: str) -> None:
        super().__init__(trunk, trunk.decoder.layers, Mixture(trunk.decoder, source, mixing), name)


class StoreRun(TrunkRun):
    """The target's. It may read states that the draft below it has computed, so it keeps count of what it has read."""

    def __init__(self, trunk: Trunk, store: Store, shelf: Shelf, mixing: Mixing, name: str) -> None:
        self._mixture = Mixture(trunk.decoder, store, mixing, shelf)
        super().__init__(trunk, trunk.decoder.layers, self._mixture, name)
        self._read = 0

    @property
    def cached(self) -> int:
        return min(self._read, super().cached)

    def _score(
        self, ids: Sequence[int], rows: int, branches: Branches | None = None, unread: frozenset[int] = frozenset()
    ) -> tuple[Tensor, Work]:
        logits, work = super()._score(ids, rows, branches)  # what nobody reads is asked too: a row is nearly free
        self._read = len(ids)
        return logits, replace(work, notes=noted(self._mixture.asked))

    def keep(self, start: int, path: Sequence[int]) -> None:
        super().keep(start, path)
        self._read = min(self._read, start + len(path))


class OverStore(OverDecoder):
    """What both levels are: a decoder, a store of its states, and how they are mixed."""

    def __init__(
        self,
        decoder: Layered,
        store: Store,
        mixing: Mixing,
        *,
        kind: str,
        label: str,
        weights: dict[str, object] | None = None,
    ) -> None:
        """
        Raises:
            ValueError: the store holds nothing.
        """
        if not len(store):
            raise ValueError(f"{kind}: its store holds no place of a text")
        made = {"store": store.about["digest"]} if "digest" in store.about else {}
        params: dict[str, object] = {"places": len(store), "near": mixing.near, "mix": mixing.mix, "heat": mixing.heat}
        super().__init__(
            decoder,
            name=kind,
            kind=kind,
            label=label,
            layers=decoder.layers,
            params={**params, **made},
            weights=weights,
        )
        self.decoder, self.store, self.mixing = decoder, store, mixing

    def enter(self, shared: SharedState) -> Trunk:
        raise NotImplementedError


class StoreLevel(OverStore):
    """kNN-LM: a model and a store of its states, asked in every pass."""

    def enter(self, shared: SharedState) -> Trunk:
        """The trunk of the target's layers, whose last states a draft below may be fed."""
        return shared.trunk(self.decoder, self.decoder.layers, features=True)

    def open(self, capacity: int, shared: SharedState) -> StoreRun:
        return StoreRun(self.enter(shared), self.store, shared.held(self.store, Shelf), self.mixing, self.name)


class CachedLevel(OverStore):
    """The same model and what the run's queries of the store have returned so far."""

    over_target = True

    def enter(self, shared: SharedState) -> Trunk:
        """The trunk of the target above, to whose end it runs all layers itself."""
        return shared.trunk(self.decoder, self.decoder.layers, along=True)

    def open(self, capacity: int, shared: SharedState) -> CachedRun:
        return CachedRun(self.enter(shared), shared.held(self.store, Shelf), self.mixing, self.name)
