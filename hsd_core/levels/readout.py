"""Read-outs of hidden states as next-token logits, and a level's state in a run that reads a trunk through one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, TakesPart, Work
from hsd_core.core.notes import Note
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.gpu.device_text import Mark
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.lean.linear import Head
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.suffixes import Copied


class Readout(Protocol):
    """Hidden states to logits: the model's own last norm and head, or a trained draft (`DraftHead`).

    `layers`: the number of its own transformer layers, whose keys and values `new_cache` holds.
    """

    name: str
    layers: int

    def new_cache(self, capacity: int) -> Cache: ...

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read the states of a pass's inputs.

        Args:
            x: (n, hidden). line: all ids up to the last input: a context and the nodes of a tree after it. fed: (n,
                hidden) features of a feature-fed draft.
        Returns:
            (wanted, V) float32 logits, (n, hidden) output states before the norm.
        """
        ...

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """The origin of `token` in the context, if this row of the last `forward` copied it."""
        ...

    def mark(self, cache: Cache) -> Mark | None:
        """The same on a device, before the token is known; None for a read-out without copies."""
        ...


class Lens:
    """The model's own last norm and head, at any depth; trained for the last layer only.

    Checkpoints trained for early exits (LayerSkip, arXiv 2404.16710) use it at every depth.
    """

    name = "lens"
    layers = 0

    def __init__(self, decoder: Layered) -> None:
        self._decoder = decoder

    def new_cache(self, capacity: int) -> Positions:
        """It has no cache."""
        return Positions()

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        return self._decoder.head(x[len(x) - given.wanted :]), x

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: Cache) -> None:
        """It copies nothing."""


class TrimmedHead(Lens):
    """The model's last norm and some rows of its head (VocabTrim, arXiv 2506.22694).

    A shallow draft reads few layers, so most of the bytes it reads are the head's: two thirds at an eighth of the
    layers of a Llama of 1B. The rows it hands up are over all tokens, with no mass on those left out, so every exact
    rule stays exact; a token that the draft cannot draw comes as a correction.

    Args:
        decoder: a `Layered` whose head's rows can be read. ids: of its vocabulary, at least one.
    """

    def __init__(self, decoder: Any, ids: Sequence[int]) -> None:
        self._norm, self._eps, self._size = decoder.last_norm, decoder.shape.norm_eps, decoder.vocab_size
        self.ids = torch.tensor([id_ for id_ in ids if id_ < self._size], device=decoder.device)
        self._head = Head(decoder.head_rows(self.ids), computes_in(decoder.dtype, decoder.device))

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. The logits of the other ids are -inf."""
        read = F.rms_norm(x[len(x) - given.wanted :], self._norm.shape, self._norm, self._eps)
        logits = read.new_full((len(read), self._size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(read)
        return logits, x

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return self._head.nbytes


class TrunkRun:
    """Reads a trunk at `depth`. A read-out with layers may have processed fewer positions than the trunk."""

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
        if unread and type(self._readout) is Lens and x.device.type == "cpu":  # on a device rows cost next to nothing
            read = [row for row in range(rows) if row - 1 not in unread]
            found = self._trunk.decoder.head(x[read])
            logits = found.new_zeros(rows, found.shape[1])
            logits[read] = found
        else:
            logits, _ = self._readout.forward(Pass(ids[start:], start, rows, branches), x, self._cache, ids)
        return logits, Work(1, end - before, end - before - rows, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        # Deeper levels cut their own depths; a shallower one may not have seen those positions.
        self._trunk.keep(start, path, self._depth)
        self._cache.keep(start, path)

    def observe(self, outcome: Outcome) -> Note | None:
        """Drafters below read the model's last states only while a level runs all of its layers."""
        if isinstance(outcome, TakesPart) and self._depth == self._trunk.decoder.layers:
            self._trunk.resting = not outcome.runs
        return None

    def close(self) -> None:
        self._cache = Positions()
