"""A level's state in a run over a trunk: read the hidden states after some layers as next-token logits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, TakesPart, Work
from hsd_core.core.notes import Note
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.gpu.device_text import Mark
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.suffixes import Copied


class Readout(Protocol):
    """Hidden states to logits: the model's own last norm and head, or a trained draft (`DraftHead`).

    `layers`: its own transformer layers, whose keys and values `new_cache` holds; 0 for one without a memory.
    """

    name: str
    layers: int

    def new_cache(self, capacity: int) -> Cache: ...

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read the states of a pass's inputs.

        Args:
            x: (n, hidden). line: all ids up to the last of the inputs, a context and the nodes of a tree behind it.
            fed: see nano.
        Returns:
            (wanted, V) float32 logits, (n, hidden) own output states before the norm.
        """
        ...

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """What `token` was copied from, a position in the context, if that row of the last `forward` copied it."""
        ...

    def mark(self, cache: Cache) -> Mark | None:
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

    def new_cache(self, capacity: int) -> Positions:
        """It remembers nothing."""
        return Positions()

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        return self._decoder.head(x[len(x) - given.wanted :]), x

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: Cache) -> None:
        """It copies nothing."""


class TrunkRun:
    """Reads a trunk at `depth`. A read-out with layers of its own has processed fewer positions than the trunk."""

    def __init__(self, trunk: Trunk, depth: int, readout: Readout, source: str) -> None:
        self._trunk, self._depth, self._readout, self._source = trunk, depth, readout, source
        self._cache = readout.new_cache(trunk.room)

    @property
    def cached(self) -> int:
        return self._cache.length if self._readout.layers else self._trunk.valid(self._depth)

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
        if unread and type(self._readout) is Lens and x.device.type == "cpu":  # elsewhere rows are nearly free
            asked = [row for row in range(rows) if row - 1 not in unread]
            said = self._trunk.decoder.head(x[asked])
            logits = said.new_zeros(rows, said.shape[1])
            logits[asked] = said
        else:
            logits, _ = self._readout.forward(Pass(ids[start:], start, rows, branches), x, self._cache, ids)
        return logits, Work(1, end - before, end - before - rows, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        # Deeper levels keep their own depths, and say so; a shallower one may never have seen what they ran there.
        self._trunk.keep(start, path, self._depth)
        self._cache.keep(start, path)

    def observe(self, outcome: Outcome) -> Note | None:
        """Drafters below read the last states of the model where somebody runs all of it."""
        if isinstance(outcome, TakesPart) and self._depth == self._trunk.decoder.layers:
            self._trunk.resting = not outcome.runs
        return None

    def close(self) -> None:
        self._cache = Positions()
