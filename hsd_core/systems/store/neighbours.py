"""kNN-LM's store: for every place of a text the target's last state there, and the token that follows.

Khandelwal et al. 2020, arXiv 1911.00172. For a new state the nearest stored states are found, and the tokens that
followed them are mixed in:

    p = mix p_kNN + (1 - mix) p_LM,   p_kNN(y) ~ sum of exp(-d / heat) over the k nearest places that y followed

The keys here are the states behind the model's last norm, scaled to length 1 (the paper takes the unscaled inputs of
the last MLP); d is the squared distance of two of them, 0 to 4. The search is exact: one matrix product over all keys,
which are read once for all states of a query.

Names: N places, n states, k neighbours, V vocabulary.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

KEPT = 4096  # places of a `StoreCache`, the newest
FOLLOWING = 10  # places behind each hit that are added too (RaLMSpec, section 5.3: n = 10)


class Neighbours(NamedTuple):
    """The k nearest places of n states, the nearest first.

    distances: (n, k) squared. ids: (n, k) the tokens that followed. places: (n, k) indices in the store.
    """

    distances: Tensor
    ids: Tensor
    places: Tensor


def directions(states: Tensor, norm: Tensor, eps: float) -> Tensor:
    """(n, hidden) last states -> (n, hidden) keys: behind the last norm, of length 1."""
    return F.normalize(F.rms_norm(states, norm.shape, norm, eps), dim=-1)


def mixed(logits: Tensor, near: Neighbours, *, mix: float, heat: float) -> Tensor:
    """The log of the mixture, (n, V), in the dtype of the model's logits (n, V).

    Args:
        mix: the store's share, 0 to 1; without neighbours the row is the model's. heat: the temperature of distances.
    """
    own = logits.log_softmax(-1)
    if not near.ids.shape[-1] or mix <= 0.0:
        return own
    own += math.log1p(-mix) if mix < 1.0 else -math.inf
    weights = (-near.distances.to(own) / heat).softmax(-1)
    stored = torch.zeros_like(own).scatter_add_(-1, near.ids, weights).gather(-1, near.ids)
    there = torch.logaddexp(own.gather(-1, near.ids), (mix * stored).log())
    return own.scatter_(-1, near.ids, there)  # a token of several places has the same value at each


class Store:
    """Read-only, and shared by all runs.

    Args:
        keys: (N, hidden) of length 1. values: (N,) ids. Both in the order of the text. about: its source.
    """

    def __init__(self, keys: Tensor, values: Tensor, about: dict[str, str] | None = None) -> None:
        self.keys, self.values, self.about = keys, values.long(), about or {}

    def __len__(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """Bytes that a query reads."""
        return self.keys.nbytes + self.values.nbytes

    def nearest(self, keys: Tensor, k: int) -> Neighbours:
        """The k nearest places (all, if there are fewer) of n keys (n, hidden)."""
        distances, places = _nearest(keys, self.keys, k)
        return Neighbours(distances, self.values[places], places)


class StoreCache:
    """A run's small cache of a store: the places that its queries returned, and those that follow each of them.

    It ranks as the store does, so if it holds the store's best place, it returns that (RaLMSpec, arXiv 2401.14021,
    section 3). The oldest places are replaced.
    """

    def __init__(self, store: Store, kept: int = KEPT, following: int = FOLLOWING) -> None:
        self._store, self._following = store, following
        self._keys = store.keys.new_zeros(min(kept, len(store)), store.keys.shape[1])
        self._places = torch.full((len(self._keys),), -1)
        self._slots: dict[int, int] = {}  # place -> slot
        self._next = 0
        self.late = False  # a query has a lane of its own: its results come with the verdict
        self._asked: deque[Tensor] = deque(maxlen=kept)  # results that are under way
        self._hits: deque[Tensor] = deque(maxlen=kept)  # added when the cache is read, so only if a draft does

    def put(self, places: Tensor) -> None:
        """Add the places that a query of the store returned; if they are `late`, with the next `arrive`."""
        (self._asked if self.late else self._hits).append(places)

    def arrive(self) -> None:
        """The results that were under way are there."""
        self._hits.extend(self._asked)
        self._asked.clear()

    def nearest(self, keys: Tensor, k: int) -> Neighbours:
        """See `Store.nearest`."""
        while self._hits:
            self._fill(self._hits.popleft().flatten().tolist())
        distances, slots = _nearest(keys, self._keys[: len(self._slots)], k)
        places = self._places[slots]
        return Neighbours(distances, self._store.values[places], places)

    def _fill(self, hits: Sequence[int]) -> None:
        room, last = len(self._keys), len(self._store) - 1
        found = dict.fromkeys(at for hit in hits for at in range(hit, min(hit + self._following, last) + 1))
        new = sorted(found.keys() - self._slots.keys())[:room]
        if not new:
            return
        slots = [(self._next + i) % room for i in range(len(new))]
        for old in self._places[slots].tolist():
            self._slots.pop(old, None)  # -1: the slot was free
        self._slots.update(zip(new, slots, strict=True))
        self._places[slots] = torch.tensor(new)
        self._keys[slots] = self._store.keys[new]
        self._next = (self._next + len(new)) % room


def _nearest(keys: Tensor, among: Tensor, k: int) -> tuple[Tensor, Tensor]:
    alike, places = (keys.to(among) @ among.T).topk(min(k, len(among)), dim=-1)
    return (2.0 - 2.0 * alike).clamp_min(0.0), places
