"""A run's cache and the positions of its passes, bound to sessions once; and the queries of one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import KVCache
from hsd_core.models.compiled.session import BoundInputs, Session
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.lean.linear import aligned
from hsd_core.models.lean.positions import KEY_STEP, rounded_up
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.one_pass import Pass

LEAST_ROWS = 2  # of products, if one row is summed in another order than several
TILE = 32  # rows of a block of attention; a single row left over is summed in another order


def padded_with_last(x: Tensor, rows: int) -> Tensor:
    """x (n, ...) with its last row repeated, up to `rows` rows."""
    return x if len(x) >= rows else torch.cat((x, x[-1:].expand(rows - len(x), *x.shape[1:])))


def filler_rows(rows: int) -> int:
    """The number of rows of zeros that attention needs in addition to those of a pass."""
    return int(rows % TILE == 1)


def slots_for(capacity: int) -> int:
    """The slots of a cache of this capacity."""
    return rounded_up(capacity + 1, KEY_STEP)


class CompiledCache(KVCache):
    """`KVCache` of one text in float32, that sessions write in place.

    It has one slot more than its capacity, for a filler row after a pass.

    Args:
        tables: cos and sin of the rotation, (positions, d / 2) each. rows: the least rows of a pass's products, 1 or
            `LEAST_ROWS`: a pass of fewer inputs repeats the last one.
    """

    __slots__ = ("_bound", "_last", "_least", "_line", "_none", "_rows", "_steers", "_total", "shape")

    def __init__(
        self, shape: LeanShape, layers: int, capacity: int, tables: tuple[Tensor, Tensor], rows: int = 1
    ) -> None:
        slots = slots_for(capacity)
        size = (layers, 1, shape.kv_heads, slots, shape.head_size)
        super().__init__(torch.zeros(size), torch.zeros(size), capacity)
        self.shape, self._least = shape, rows
        self._bound: dict[Session, BoundInputs] = {}
        self._last, self._total = np.zeros(1, np.int32), np.zeros(1, np.int32)
        self._rows = np.zeros(1, np.int64)
        self._line, self._none = torch.arange(slots), torch.zeros(0)
        # as many positions as slots: a tree has more slots than positions, and the kernel compares the two
        more = max(0, slots - len(tables[0]))
        cos, sin = (F.pad(table, (0, 0, 0, more)) if more else table for table in tables)
        whole = {"last": self._last, "total": self._total, "rows": self._rows}
        self._steers = {**{name: torch.from_numpy(held) for name, held in whole.items()}, "cos": cos, "sin": sin}

    def bound(self, session: Session, layers: Iterable[int]) -> BoundInputs:
        """This run's bindings to a session that runs these layers."""
        if session not in self._bound:
            self._bound[session] = self.bind(session, layers)
        return self._bound[session]

    def bind(self, session: Session, layers: Iterable[int]) -> BoundInputs:
        """New bindings to a session that runs these layers."""
        made = session.bound()
        self.bind_to(made, layers)
        return made

    def bind_to(self, bound: BoundInputs, layers: Iterable[int], seat: str = "") -> None:
        """Bind this cache to the inputs and outputs of these layers. seat: see `graph.steering`."""
        for name, tensor in self._steers.items():
            bound.input(name + seat, tensor)
        for i in layers:
            for name, kept in (("key", self.keys), ("value", self.values)):
                bound.input(f"{name}.{i}{seat}", kept[i])
                bound.output(f"{name}.{i}{seat}.written", kept[i])

    def forget(self, current: Collection[Session]) -> None:
        """Drop the bindings to other sessions than these, after layers were split again."""
        self._bound = {session: bound for session, bound in self._bound.items() if session in current}

    def run(self, bounds: Iterable[BoundInputs], given: Pass, x: Tensor) -> Tensor:
        """Run a pass's inputs, x (n, hidden), through sessions, each on the states of the one before; returns the (n,
        hidden) states after the last one."""
        steers, wanted, x = self.steer(given), len(x), padded_with_last(x, self._least)
        for bound in bounds:
            made = torch.empty(1, *x.shape)
            bound.input("x", aligned(x)[None])
            for name, tensor in steers.items():
                bound.input(name, tensor)
            bound.output("states", made)
            bound()
            x = made[0]
        return x[:wanted]

    def steer(self, given: Pass, least: int | None = None) -> dict[str, Tensor]:
        """Set the position of the next pass; returns the inputs to bind in addition to x. least: rows, if not those of
        a pass of its own."""
        n, start, end, tree = len(given.ids), given.start, given.end, given.tree
        fill = self.place_chain(given, least)
        seen = int(self._total[0])
        bias = self._zeros((seen - start) * seen).view(1, 1, seen - start, seen)
        positions = self._line[start:seen]
        if tree is not None or given.ahead:
            positions = torch.cat((given.positions(), positions[n:]))
        if tree is not None:
            bias = bias.clone()
            bias[0, 0, :n, :end].masked_fill_(tree.hidden(start, end), float("-inf"))
        return {"positions": positions[None], "bias": bias, "fill": self.filling(fill)}

    def steer_nothing(self, fill: int) -> dict[str, Tensor]:
        """`steer` for a pass of no rows, in which attention gets `fill` rows of zeros."""
        steers = self.steer(Pass([0] * fill), least=1)
        self._rows[0] = 0
        return {**steers, "fill": self.filling(fill)}

    def place_chain(self, given: Pass, least: int | None = None) -> int:
        """Set the position of the next pass if it is a chain; returns the number of filler rows in attention."""
        start, end, rows = given.start, given.end, max(len(given.ids), self._least if least is None else least)
        fill = filler_rows(rows)
        seen = start + rows + fill
        if not 0 <= start < end or seen > len(self._line):
            raise DecoderError(f"slots {start} to {end - 1} lie beyond the cache's capacity of {self.capacity}")
        self._last[0], self._total[0], self._rows[0] = seen - 1, seen, rows
        return fill

    def filling(self, rows: int) -> Tensor:
        """(1, rows, ...) zeros as queries, keys and values."""
        s = self.shape
        return torch.zeros(1, rows, (s.heads + 2 * s.kv_heads) * s.head_size)

    def _zeros(self, count: int) -> Tensor:
        """Read-only zeros."""
        if len(self._none) < count:
            self._none = torch.zeros(count)
        return self._none[:count]


class ShownQueries:
    """Memory for queries that sessions write. tables: cos and sin of the rotation, (positions, d / 2) each."""

    def __init__(self, shape: LeanShape, layers: int, tables: tuple[Tensor, Tensor]) -> None:
        self._found = torch.empty(layers, 1, 1, shape.heads * shape.head_size)
        self._shape, self._tables = shape, tables

    def bind(self, cache: CompiledCache, session: Session, layers: range) -> BoundInputs:
        """A session that runs these layers over a cache, bound to write here too."""
        bound = cache.bind(session, layers)
        for i in layers:
            bound.output(f"asked.{i}", self._found[i])
        return bound

    def rotated(self, position: int) -> Tensor:
        """(L, H, d) rotated queries of this position, from the last pass."""
        size = self._shape.head_size
        q = self._found.view(len(self._found), self._shape.heads, size)
        cos, sin = (table[position].repeat(2) for table in self._tables)
        return q * cos + torch.cat((-q[..., size // 2 :], q[..., : size // 2]), -1) * sin
