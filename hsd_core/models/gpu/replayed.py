"""Passes of few inputs as recorded graphs: the memory that graphs are bound to, and running a pass in it.

A graph reads and writes fixed addresses. So a cache, the inputs of a pass and their positions are in memory that is
allocated once and lent to one run after another. Passes come in buckets of rows: the spare rows of a bucket write to
the slots after the inputs, which are written again before they are read. They also come in buckets of slots: a pass
attends to the slots in use, rounded up (`seen_of`), not to the whole cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING
from weakref import finalize

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import KVCache
from hsd_core.models.gpu.graphs import Graphs, Replay
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.one_pass import Pass

if TYPE_CHECKING:
    from hsd_core.models.lean.layers import Layers

ROWS = (1, 2, 4, 8, 16, 32)  # the buckets; larger passes are launched kernel by kernel
MOST_ROWS = ROWS[-1]
LEAST_SLOTS = 256  # of a cache; larger ones have twice as many, four times, ...
SEEN_STEP, STEPS = 256, 4  # buckets of slots grow by 256, from the fifth on by half
MOST_RANGES = 8  # of layers with graphs, for one memory
MOST_FREE = 2  # unused memories that are kept


def seen_of(slots: int) -> tuple[int, ...]:
    """The buckets of slots for a cache of this many: 256, 512, 768, 1024, 1536, 2048, 3072, ...

    Finer ones would save little, as attention over a long text is a small part of a pass; each needs a graph for every
    bucket of rows.
    """
    found, half = [SEEN_STEP * n for n in range(1, STEPS + 1)], STEPS * SEEN_STEP
    while found[-1] < slots:
        found += [half + half // 2, 2 * half]
        half *= 2
    return (*(seen for seen in found if seen < slots), slots)


class GraphMemory:
    """Keys and values (L, 1, G, slots, d) of one run at a time, its next pass, and the graphs over both.

    Args:
        layers: the model's. slots: of the cache.
    """

    def __init__(self, layers: Layers, slots: int) -> None:
        self.keys, self.values = layers.zeros(slots, 1), layers.zeros(slots, 1)
        width, device = layers.shape.hidden, self.keys.device
        self.slots = slots
        self._x = self.keys.new_zeros(MOST_ROWS, width)
        self._out = torch.zeros_like(self._x)
        self._line = torch.arange(slots, device=device)
        self._at = self._line.new_zeros(2, MOST_ROWS)  # the slot and the position of every row
        self._hidden = torch.zeros(MOST_ROWS, slots, dtype=torch.bool, device=device)
        # a tree has more slots than positions: spare rows may be beyond the last position
        self._rotaries = [
            [F.pad(table, (0, 0, 0, max(0, slots - len(table)))) for table in tables] for tables in layers.rotaries
        ]
        self._places = self._line.clone() if layers.windowed else self._line  # the position of every slot
        self._seen = seen_of(slots)
        self._graphs: dict[tuple[int, int], dict[tuple[int, int], Replay]] = {}  # (layers) -> (rows, slots) -> graph

    def clear(self) -> None:
        """Clear the last run's values: one that is not finite would pass the mask."""
        for kept in (self.keys, self.values, self._x):
            kept.zero_()

    @torch.inference_mode()
    def capture(self, layers: Layers, graphs: Graphs, ranges: Sequence[tuple[int, int]]) -> None:
        """Record layers lo to hi - 1 for every one of the ranges, and for every bucket of rows and slots."""
        if len({*self._graphs, *ranges}) > MOST_RANGES:
            self._graphs = {at: found for at, found in self._graphs.items() if at in ranges}
        for lo, hi in ranges:
            if (lo, hi) not in self._graphs:
                buckets = product(ROWS, self._seen)
                self._graphs[lo, hi] = {at: graphs.capture(self._pass(layers, lo, hi, *at)) for at in buckets}

    def replay(self, given: Pass, x: Tensor, lo: int, hi: int) -> Tensor | None:
        """Layers lo to hi - 1 on a pass's inputs, x (n, hidden) -> (n, hidden); None without a graph for it."""
        n, start, end, found = len(x), given.start, given.end, self._graphs.get((lo, hi))
        rows = next((rows for rows in ROWS if rows >= n), None)
        if found is None or rows is None:
            return None
        seen = next(seen for seen in self._seen if seen >= start + rows)
        self._x[:n] = x
        self._at[:, :rows] = self._line[start : start + rows]
        self._hidden[:rows, :seen] = self._line[:seen] > self._at[0, :rows, None]
        if self._places is not self._line:
            self._places[:seen] = self._line[:seen] + given.ahead
            if given.tree is not None:
                self._places[:end] = sent(given.tree.positions(0, end) + given.ahead, x.device)
        if given.tree is not None or given.ahead:
            self._at[1, :n] = sent(given.positions(), x.device)
        if given.tree is not None:
            self._hidden[:n, :end] = sent(given.tree.hidden(start, end), x.device)
        found[rows, seen]()
        return self._out[:n].clone()  # the next replay overwrites it

    def _pass(self, layers: Layers, lo: int, hi: int, rows: int, seen: int) -> Callable[[], None]:
        def run() -> None:
            slots, positions = self._at[0, :rows], self._at[1, :rows]

            def write(kept: Tensor, new: Tensor) -> None:
                kept[0].index_copy_(1, slots, new.transpose(0, 1))

            x, hidden, kept = self._x[:rows], self._hidden[:rows, :seen], (self.keys, self.values)
            places = self._places[:seen]
            self._out[:rows] = layers.over(kept, x, lo, hi, positions, places, hidden, self._rotaries, write)

        return run


class Memories:
    """The memories of one `Layers`. `refused`: why its passes are not recorded, or None."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self._free: list[GraphMemory] = []
        self._lock = threading.RLock()  # a finalizer may return a memory while this thread lends another
        self.refused: str | None = None

    def lend(self, layers: Layers, capacity: int) -> GraphMemory:
        """A memory for `capacity` positions and the spare rows after them."""
        slots = max(LEAST_SLOTS, 1 << (capacity + MOST_ROWS - 1).bit_length())
        with self._lock:
            found = next((one for one in self._free if one.slots == slots), None)
            if found is not None:
                self._free.remove(found)
        if found is None:
            with torch.inference_mode(False):  # it outlives the caller
                return GraphMemory(layers, slots)
        found.clear()
        return found

    def take_back(self, memory: GraphMemory) -> None:
        """A run is over."""
        with self._lock:
            self._free.append(memory)
            del self._free[:-MOST_FREE]

    def capture(self, layers: Layers, memory: GraphMemory, depths: Sequence[int]) -> None:
        """Record the layers between 0 and these depths; after a failure it is not tried again."""
        if self.refused is None:
            try:
                memory.capture(layers, self._graphs, list(pairwise((0, *depths))))
            except RuntimeError as error:
                first = str(error).strip().partition("\n")[0][:200]
                self.refused = f"passes are launched kernel by kernel, since no CUDA graph could be recorded: {first}"


class LentCache(KVCache):
    """A cache in a memory of `Memories`, returned when the cache is freed; its passes can be replayed."""

    def __init__(self, memories: Memories, memory: GraphMemory, capacity: int) -> None:
        super().__init__(memory.keys, memory.values, capacity)
        self.memory = memory
        finalize(self, memories.take_back, memory)
