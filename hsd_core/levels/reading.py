"""A level's state in a run over a trunk: read the hidden states after some layers as next-token logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from hsd_core.levels.protocol import Copying, DraftOrder, Proposal, Resting, Work, draft_token_by_token
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.trace import Copied


class Readout(Protocol):
    """Hidden states to logits: the model's own last norm and head, or a trained draft (`DraftHead`).

    `layers`: its own transformer layers, whose keys and values `new_cache` holds; 0 for one without a memory.
    """

    name: str
    layers: int

    def new_cache(self, capacity: int) -> Any: ...

    def forward(
        self, tape: Sequence[int], x: Tensor, cache: Any, start: int, rows: int, fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """x (n, hidden) at positions start, ..., start + n - 1, the last of the tape's; `fed`: see nano.

        Returns:
            (rows, V) float32 logits of the last rows, (n, hidden) own output states before the norm.
        """
        ...

    def copied(self, cache: Any, token: int) -> Copied | None:
        """What `token` was copied from, a position on the tape, if the last row of the last `forward` copied it."""
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
        self, tape: Sequence[int], x: Tensor, cache: None, start: int, rows: int, fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        return self._decoder.head(x[len(x) - rows :]), x

    def copied(self, cache: None, token: int) -> None:
        """It copies nothing."""


class TrunkRun(Resting, Copying):
    """Reads a trunk at `depth`. A read-out with layers of its own has processed fewer positions than the trunk."""

    def __init__(self, trunk: Trunk, depth: int, readout: Readout, source: str) -> None:
        self._trunk, self._depth, self._readout, self._source = trunk, depth, readout, source
        self._cache: Any = readout.new_cache(trunk.capacity)
        self._own = 0

    @property
    def cached(self) -> int:
        return self._own if self._readout.layers else self._trunk.valid(self._depth)

    def propose(self, tape: list[int], order: DraftOrder) -> Proposal:
        return draft_token_by_token(self, tape, order, self._source)

    @torch.inference_mode()
    def score(self, tape: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        end, before = len(tape), self.cached
        if end - before < rows:
            raise ValueError(
                f"{self._source}: {rows} rows asked for, but only {end - before} tokens are new on the tape"
            )
        spans = self._trunk.run(tape, self._depth, end)
        start = before if self._readout.layers else end - rows
        x = self._trunk.hidden(self._depth, start, end)
        logits, _ = self._readout.forward(tape, x, self._cache, start, rows)
        self._own = end
        return logits, Work(1, end - before, end - before - rows, spans)

    def copied(self, token: int) -> Copied | None:
        """See `Copying`."""
        return self._readout.copied(self._cache, token)

    def commit(self, ids: Sequence[int]) -> None:
        """Nothing to do: the trunk already holds what was verified."""

    def rollback(self, length: int) -> None:
        self._own = min(self._own, length)
        # Deeper levels cut their own depths, and say so; a shallower one may never have seen what they ran there.
        self._trunk.cut(length, self._depth)

    def rest(self, resting: bool) -> None:
        """See `Resting`: drafters below read the last states of the model where somebody runs all of it."""
        if self._depth == self._trunk.decoder.layers:
            self._trunk.resting = resting

    def close(self) -> None:
        self._cache = None
