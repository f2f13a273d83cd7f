"""One run's cache of a model that transformers runs, and its rollback: keys and values, and states that sum what was
read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from hsd_core.models.one_pass import Pass, in_order

if TYPE_CHECKING:
    from transformers import DynamicCache

REREAD = 16  # positions that a cache with running states reads again at most, where a draft is rejected
KEPT = 3  # its snapshots; before the oldest it begins anew


class CroppedCache:
    """One run's keys and values in a cache of transformers, which can be cropped but not moved.

    It keeps every position, also of layers with a window: those are masked. A cache made from the model's config would
    drop what lies before the window, and could not be cropped once the window has moved.
    """

    def __init__(self, layers: DynamicCache, capacity: int) -> None:
        self.layers, self.capacity = layers, capacity

    @property
    def length(self) -> int:
        """See `Cache`."""
        return int(self.layers.get_seq_length())

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`. A path out of order is forgotten completely."""
        self.cut(base + len(path) if in_order(path) else base)

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        if length < self.length:
            self.layers.crop(length - self.length)  # negative: the number of positions to remove

    def mark(self) -> object:
        """See `Cache.mark`."""
        return self.length

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        assert isinstance(mark, int)
        self.cut(mark)

    def parts(self, given: Pass) -> Iterator[Pass]:
        """A pass in the parts in which it is run."""
        yield given


class _Snapshot(NamedTuple):
    """The states after `length` positions: for each layer that has any, its tensors by (kind, number)."""

    length: int
    states: dict[int, dict[tuple[str, int], Tensor]]


class SnapshotCache(CroppedCache):
    """The same with layers whose state sums all inputs (state spaces, linear attention, convolutions).

    No position can be taken out of a sum, so the cache goes back to a copy of the states and forgets what came after
    it; the run reads those positions again in its next pass. A copy is taken before the first row that a pass is asked
    for, if the last one lies more than `REREAD` positions before it.

    Args:
        fresh: makes the layers of an unused cache.
    """

    def __init__(self, fresh: Callable[[], DynamicCache], capacity: int) -> None:
        super().__init__(fresh(), capacity)
        self._fresh, self._taken = fresh, [_Snapshot(0, {})]

    def parts(self, given: Pass) -> Iterator[Pass]:
        """See `CroppedCache.parts`; each is to be run before the next is asked for."""
        first = given.end - given.wanted
        if first - self._taken[-1].length > REREAD:
            if alone := first - given.start:
                yield given.part(0, alone)
            self._taken = [self._taken[0], *self._taken[1:][1 - KEPT :], self._snapshot()]
            yield given.part(alone, len(given.ids))
        else:
            yield given

    def cut(self, length: int) -> None:
        """See `Cache.cut`. It forgets more: `length` is then that of a snapshot."""
        if length < self.length:
            self._taken = [one for one in self._taken if one.length <= length]
            self._go_back(self._taken[-1])

    def mark(self) -> object:
        """See `Cache.mark`: a snapshot."""
        return self._snapshot()

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        assert isinstance(mark, _Snapshot)
        if mark.length < self.length:
            self._taken = [one for one in self._taken if one.length <= mark.length]
            self._go_back(mark)

    def _snapshot(self) -> _Snapshot:
        found = ((i, states_of(layer)) for i, layer in enumerate(self.layers.layers))
        return _Snapshot(self.length, {i: {at: x.clone() for at, x in own.items()} for i, own in found if own})

    def _go_back(self, to: _Snapshot) -> None:
        from transformers.cache_utils import DynamicLayer

        if not to.length:
            self.layers = self._fresh()
            return
        removed = to.length - self.length
        for i, layer in enumerate(self.layers.layers):
            if isinstance(layer, DynamicLayer):
                DynamicLayer.crop(layer, removed)
            for (kind, number), kept in to.states.get(i, {}).items():
                getattr(layer, kind)[number] = kept.clone()  # passes write into the tensors that a layer holds


def states_of(layer: Any) -> dict[tuple[str, int], Tensor]:
    """The tensors of a layer's running states; empty for one that has none yet."""
    kinds = ("conv_states", "recurrent_states")
    held = ((kind, number, x) for kind in kinds for number, x in getattr(layer, kind, {}).items())
    return {(kind, number): x for kind, number, x in held if isinstance(x, Tensor)}


def all_positions(config: Any) -> DynamicCache:
    """A new cache of transformers for a model with running states; layers with a window keep every position too."""
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    made = DynamicCache(config=config)
    whole: Any = DynamicLayer
    made.layers = [whole() if type(one) is DynamicSlidingWindowLayer else one for one in made.layers]
    return made


def has_states(config: Any) -> bool:
    """Whether some layers of a model keep running states."""
    return any(hasattr(layer, "recurrent_states") for layer in all_positions(config).layers)
