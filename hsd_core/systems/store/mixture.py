"""A read-out of the target's last states: its distribution mixed with the tokens that followed similar states
(kNN-LM)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hsd_core.levels.readout import Lens
from hsd_core.models.cache import Cache
from hsd_core.models.one_pass import Pass
from hsd_core.systems.store.neighbours import Neighbours, Store, StoreCache, directions, mixed
from hsd_core.systems.store.notes import Asked


@dataclass(frozen=True, slots=True)
class Mixing:
    """How a store is mixed in. near: nearest places used. mix: the store's share. heat: temperature of distances."""

    near: int
    mix: float
    heat: float


class Mixture(Lens):
    """The model's last norm and head, mixed with a store. asked: the note on the last query of a store."""

    def __init__(
        self, decoder: Any, source: Store | StoreCache, mixing: Mixing, store_cache: StoreCache | None = None
    ) -> None:
        super().__init__(decoder)
        self.asked: Asked | None = None
        self._source, self._mixing, self._store_cache = source, mixing, store_cache

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`."""
        read = x[len(x) - given.wanted :]
        logits = self._decoder.head(read)
        begun = time.perf_counter_ns()  # a part of the pass, which the run's clock times
        near = self._near(read)
        if self._store_cache is not None:
            self._store_cache.put(near.places)
        self.asked = Asked(len(read), time.perf_counter_ns() - begun)
        return mixed(logits, near, mix=self._mixing.mix, heat=self._mixing.heat), x

    def _near(self, read: Tensor) -> Neighbours:
        keys = directions_of(self._decoder, read)
        found = self._source.nearest(keys.to("cpu"), self._mixing.near)
        return Neighbours(*(part.to(read.device) for part in found))


@torch.inference_mode()
def keys_of(decoder: Any, ids: Sequence[int]) -> Tensor:
    """(n, hidden) keys of every place of a text, in one pass."""
    states = decoder.forward_layers(Pass(ids, wanted=0), decoder.new_cache(len(ids)), 0, decoder.layers)
    return directions_of(decoder, states)


def directions_of(decoder: Any, states: Tensor) -> Tensor:
    """(n, hidden) keys of states, in float32 or higher precision."""
    held = states.float() if states.element_size() < 4 else states
    return directions(held, decoder.last_norm.to(held), decoder.shape.norm_eps)
