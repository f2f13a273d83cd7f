"""What a run remembers of a model, and how it is taken back: one protocol for every decoder.

A context grows by a tree behind it; then a path of the tree is kept and the rest forgotten. For keys and values that is
a position to go on from, after the path's nodes have been moved together where they do not lie so already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.one_pass import in_order


class Cache(Protocol):
    """One run's memory of one model. length: the slots filled, positions of a context and nodes of a tree behind it."""

    @property
    def length(self) -> int: ...

    def keep(self, base: int, path: Sequence[int]) -> None:
        """Of the tree behind the first `base` slots keep the nodes of a path, forget all else that lies there.

        It may forget more than that: `length` says what is left.
        """

    def cut(self, length: int) -> None:
        """Forget every slot from `length` on; nothing where no more are filled."""

    def mark(self) -> object:
        """This state, for `restore`, as long as nothing before it is taken back."""

    def restore(self, mark: object) -> None:
        """Forget what was fed since `mark`."""


C = TypeVar("C", bound=Cache)


def own(cache: Cache, kind: type[C]) -> C:
    """A decoder's own kind of cache: no kernel is given memory that was not made for it.

    Raises:
        DecoderError: it is another decoder's.
    """
    if not isinstance(cache, kind):
        raise DecoderError(f"a {type(cache).__name__} is not a cache of this decoder; make one by its new_cache")
    return cache


class Positions:
    """A cache of which every slot stands for itself, so that going back is a number.

    length: slots that have been through all that it remembers.
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
        """See `Cache.keep`. Nodes that were never fed are not there to be kept."""
        mine = [node for node in path if base + node < self.length]
        if not in_order(mine):
            self.move(base, mine)
        self.cut(base + len(mine))

    def move(self, base: int, nodes: Sequence[int]) -> None:
        """Put these nodes of the tree behind `base` side by side, from slot `base` on."""
        raise NotImplementedError


class KVCache(Positions):
    """Keys and values of `texts` texts: two tensors (L, texts, G, slots, d), always finite.

    Names: L layers, G key/value heads, d head size. `length` is that of one text alone. divided: (L, G, d) what the
    values are divided by, in a copy that smooths what it rounds; None where they are the model's own.
    """

    __slots__ = ("capacity", "divided", "keys", "values")

    def __init__(self, keys: Tensor, values: Tensor, capacity: int) -> None:
        super().__init__()
        self.keys, self.values, self.capacity = keys, values, capacity
        self.divided: Tensor | None = None

    def text(self, b: int) -> KVCache:
        """Text b's part of it, the same memory."""
        return KVCache(self.keys[:, b : b + 1], self.values[:, b : b + 1], self.capacity)

    def move(self, base: int, nodes: Sequence[int], lo: int = 0, hi: int | None = None) -> None:
        """See `Positions.move`; in layers lo to hi - 1."""
        source = sent(nodes, self.keys.device) + base
        for kept in (self.keys, self.values):
            kept[lo:hi, :, :, base : base + len(nodes)] = kept[lo:hi, :, :, source]
