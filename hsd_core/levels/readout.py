"""A level's state in a run over a trunk: read the hidden states after some layers as next-token logits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from hsd_core.levels.growing import draft
from hsd_core.levels.protocol import Counts, DraftOrder, Outcome, Proposal, TakesPart, Work
from hsd_core.levels.tree import NOTHING, Tree, in_order
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.context import Context
from hsd_core.models.gpu.text import Mark
from hsd_core.models.passes import Branches
from hsd_core.trace import Copied


class Readout(Protocol):
    """Hidden states to logits: the model's own last norm and head, or a trained draft (`DraftHead`).

    `layers`: its own transformer layers, whose keys and values `new_cache` holds; 0 for one without a memory.
    """

    name: str
    layers: int

    def new_cache(self, capacity: int) -> Any: ...

    def forward(
        self,
        context: Sequence[int],
        x: Tensor,
        cache: Any,
        start: int,
        rows: int,
        fed: Tensor | None = None,
        branches: Branches | None = None,
    ) -> tuple[Tensor, Tensor]:
        """x (n, hidden) in slots start, ..., start + n - 1, the last of the context's (with `branches`: and of a tree's
        behind it); `fed`: see nano.

        Returns:
            (rows, V) float32 logits of the last rows, (n, hidden) own output states before the norm.
        """
        ...

    def copied(self, cache: Any, token: int, row: int = -1) -> Copied | None:
        """What `token` was copied from, a position in the context, if that row of the last `forward` copied it."""
        ...

    def mark(self, cache: Any) -> Mark | None:
        """The same on a device, for whatever token is drawn; None for one that copies nothing."""
        ...


class Lens:
    """The model's own last norm and head, at whatever depth: right behind the last layer, untrained before it.

    Checkpoints trained for early exits (LayerSkip, arXiv 2404.16710) are read so at every depth.
    """

    name = "lens"
    layers = 0

    def __init__(self, decoder: Layered) -> None:
        self._decoder = decoder

    def new_cache(self, capacity: int) -> None:
        """It remembers nothing."""

    def forward(
        self,
        context: Sequence[int],
        x: Tensor,
        cache: None,
        start: int,
        rows: int,
        fed: Tensor | None = None,
        branches: Branches | None = None,
    ) -> tuple[Tensor, Tensor]:
        return self._decoder.head(x[len(x) - rows :]), x

    def copied(self, cache: None, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: None) -> None:
        """It copies nothing."""


@torch.inference_mode()
def keep_own(cache: Any, layers: int, valid: int, start: int, path: Sequence[int]) -> int:
    """Keep what a read-out's own cache has of the path of a tree behind `start`; how many positions that leaves.

    Args:
        layers: its own, 0 for one without a memory. valid: positions and nodes that it has processed.
    """
    mine = [node for node in path if start + node < valid]
    if layers and not in_order(mine):
        cache.layers.keep(start, mine, 0, layers)
    return min(valid, start + len(mine))


class TrunkRun:
    """Reads a trunk at `depth`. A read-out with layers of its own has processed fewer positions than the trunk."""

    def __init__(self, trunk: Trunk, depth: int, readout: Readout, source: str) -> None:
        self._trunk, self._depth, self._readout, self._source = trunk, depth, readout, source
        self._cache: Any = readout.new_cache(trunk.room)
        self._own = 0

    @property
    def cached(self) -> int:
        return self._own if self._readout.layers else self._trunk.valid(self._depth)

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        copied, mark = partial(self._readout.copied, self._cache), partial(self._readout.mark, self._cache)
        return draft(self, context, order, self._source, copied, mark)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._score(context + ids, max(1, new), branches)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._score(context + tree.ids if len(tree) else context, len(tree) + 1, branches, tree.unread)

    @torch.inference_mode()
    def _score(
        self,
        ids: Sequence[int],
        rows: int,
        branches: Branches | None = None,
        unread: frozenset[int] = frozenset(),
    ) -> tuple[Tensor, Work]:
        end, before = len(ids), self.cached
        if end - before < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but only {end - before} tokens are new")
        spans = self._trunk.run(ids, self._depth, end, branches)
        start = before if self._readout.layers else end - rows
        x = self._trunk.hidden(self._depth, start, end)
        if unread and isinstance(self._readout, Lens) and x.device.type == "cpu":  # elsewhere rows are nearly free
            asked = [row for row in range(rows) if row - 1 not in unread]
            said = self._trunk.decoder.head(x[asked])
            logits = said.new_zeros(rows, said.shape[1])
            logits[asked] = said
        else:
            logits, _ = self._readout.forward(ids, x, self._cache, start, rows, branches=branches)
        self._own = end
        return logits, Work(1, end - before, end - before - rows, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        # Deeper levels keep their own depths, and say so; a shallower one may never have seen what they ran there.
        if in_order(path):
            self._cut(start + len(path))
        else:
            self._trunk.keep(start, path, self._depth)
            self._own = keep_own(self._cache, self._readout.layers, self._own, start, path)

    def observe(self, outcome: Outcome) -> Counts | None:
        """Drafters below read the last states of the model where somebody runs all of it."""
        if isinstance(outcome, TakesPart) and self._depth == self._trunk.decoder.layers:
            self._trunk.resting = not outcome.runs
        return None

    def close(self) -> None:
        self._cache = None

    def _cut(self, length: int) -> None:
        self._own = min(self._own, length)
        self._trunk.cut(length, self._depth)
