"""kNN-LM as a level, and a draft that reads a small cache of the same store (RaLMSpec, arXiv 2401.14021).

Both are read-outs over one trunk: the target's last states give the model's distribution, mixed with the tokens that
followed similar states in a text (`neighbours.py`). The target queries the store. The draft queries the places that the
target's queries returned in this run, so verifying its tokens takes one query, and no layers except for the row behind
the last token. The draft hands up the rows that it drew from, so any rule stays exact; the paper compares tokens.

With @with=ahead the query has a lane of its own (the paper's asynchronous verification): the model drafts on meanwhile,
over the same trunk. The query then reads no row behind the last token, so it runs no layer at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from hsd_core.core.level import Outcome, Verified, Work
from hsd_core.core.notes import Note, noted
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.readout import TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.one_pass import Branches
from hsd_core.systems.store.mixture import Mixing, Mixture
from hsd_core.systems.store.neighbours import Store, StoreCache


class CachedRun(TrunkRun):
    """The draft's state: that of a level that runs all layers."""

    def __init__(self, trunk: Trunk, source: StoreCache, mixing: Mixing, name: str) -> None:
        super().__init__(trunk, trunk.decoder.layers, Mixture(trunk.decoder, source, mixing), name)
        self._store_cache = source

    def observe(self, outcome: Outcome) -> Note | None:
        """With the verdict the query's results are there, if it was asked on a lane of its own."""
        if isinstance(outcome, Verified):
            self._store_cache.arrive()
        return super().observe(outcome)


class StoreRun(TrunkRun):
    """The target's state. It may use states that the draft below has computed, so it counts what it has read itself."""

    def __init__(self, trunk: Trunk, store: Store, store_cache: StoreCache, mixing: Mixing, name: str) -> None:
        self._mixture = Mixture(trunk.decoder, store, mixing, store_cache)
        super().__init__(trunk, trunk.decoder.layers, self._mixture, name)
        self._read = 0

    @property
    def cached(self) -> int:
        return min(self._read, super().cached)

    def _score(
        self, ids: Sequence[int], rows: int, branches: Branches | None = None, unread: frozenset[int] = frozenset()
    ) -> tuple[Tensor, Work]:
        logits, work = super()._score(ids, rows, branches)  # unread rows too: a row of a query is nearly free
        self._read = len(ids)
        return logits, replace(work, notes=noted(self._mixture.asked))

    def keep(self, start: int, path: Sequence[int]) -> None:
        super().keep(start, path)
        self._read = min(self._read, start + len(path))


class OverStore(OverDecoder):
    """The base of both levels: a decoder, a store of its states, and the mixing."""

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
            ValueError: the store is empty.
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
    """kNN-LM: a model and a store of its states, queried in every pass."""

    def enter(self, shared: SharedState) -> Trunk:
        """The trunk of the target's layers, whose last states a draft below may be fed."""
        return shared.trunk(self.decoder, self.decoder.layers, features=True)

    def open(self, capacity: int, shared: SharedState) -> StoreRun:
        store_cache = shared.held(self.store, StoreCache)
        store_cache.late = shared.across
        return StoreRun(self.enter(shared), self.store, store_cache, self.mixing, self.name)


class CachedLevel(OverStore):
    """The same model, and the results of the run's queries so far."""

    over_target = beside = True

    def enter(self, shared: SharedState) -> Trunk:
        """The trunk of the target above, to whose end it runs all layers itself."""
        return shared.trunk(self.decoder, self.decoder.layers, along=True)

    def open(self, capacity: int, shared: SharedState) -> CachedRun:
        return CachedRun(self.enter(shared), shared.held(self.store, StoreCache), self.mixing, self.name)
