"""A model's cache in one run, and its rollback: one protocol for every decoder.

A context is extended by a tree; then a path of the tree is kept and the rest forgotten. For keys and values rollback
sets the length, after the path's nodes have been moved to adjacent slots if necessary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.one_pass import in_order


class Cache(Protocol):
    """One run's cache of one model. length: the filled slots, positions of a context and nodes of a tree after it."""

    @property
    def length(self) -> int: ...

    def keep(self, base: int, path: Sequence[int]) -> None:
        """Of the tree after the first `base` slots keep the nodes of a path, forget the others.

        It may forget more; `length` is what is left.
        """

    def cut(self, length: int) -> None:
        """Forget every slot from `length` on, if it has more."""

    def mark(self) -> object:
        """The present state, for `restore`; valid until the cache is cut before it."""

    def restore(self, mark: object) -> None:
        """Forget the inputs since `mark`."""


C = TypeVar("C", bound=Cache)


def own(cache: Cache, kind: type[C]) -> C:
    """The cache, checked to be of a decoder's own kind.

    Raises:
        DecoderError: it is another decoder's.
    """
    if not isinstance(cache, kind):
        raise DecoderError(f"a {type(cache).__name__} is not a cache of this decoder; make one by its new_cache")
    return cache


class Positions:
    """A cache with independent slots, so that rollback sets its length.

    length: the filled slots.
    """

    __slots__ = ("length",)

    def __init__(self) -> None:
        self.length = 0

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        self.length = min(self.length, length)

    def mark(self) -> object:
        """See `Cache.mark`."""
        return self.length

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        assert isinstance(mark, int)
        self.cut(mark)

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`. Nodes that were not processed are left out."""
        mine = [node for node in path if base + node < self.length]
        if not in_order(mine):
            self.move(base, mine)
        self.cut(base + len(mine))

    def move(self, base: int, nodes: Sequence[int]) -> None:
        """Move these nodes of the tree to adjacent slots from `base` on."""
        raise NotImplementedError


class KVCache(Positions):
    """Keys and values of `texts` texts: two tensors (L, texts, G, slots, d), always finite.

    Names: L layers, G key/value heads, d head size. `length` is of one text. divided: (L, G, d) divisors of the values
    in a copy that smooths the inputs of its products; None for the model's own values.
    """

    __slots__ = ("capacity", "divided", "keys", "values")

    def __init__(self, keys: Tensor, values: Tensor, capacity: int) -> None:
        super().__init__()
        self.keys, self.values, self.capacity = keys, values, capacity
        self.divided: Tensor | None = None

    def text(self, b: int) -> KVCache:
        """The part of text b, in the same memory."""
        return KVCache(self.keys[:, b : b + 1], self.values[:, b : b + 1], self.capacity)

    def move(self, base: int, nodes: Sequence[int], lo: int = 0, hi: int | None = None) -> None:
        """See `Positions.move`; in layers lo to hi - 1."""
        source = sent(nodes, self.keys.device) + base
        for kept in (self.keys, self.values):
            kept[lo:hi, :, :, base : base + len(nodes)] = kept[lo:hi, :, :, source]
