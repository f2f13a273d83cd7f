"""The trunk: what the levels over one model share in one run.

Every level that reads the model after some of its layers (an early exit) or after all of them uses the same keys,
values and hidden states. A layer is run on a position once: the exit at layer 4 runs layers 0-3, and a verifier above
it goes on from there (HiSpec, arXiv 2510.01336, section 3.1; LayerSkip, arXiv 2404.16710, section 4.3).

Hidden states are kept at the marked depths alone. `valid(d)` says how many positions of the context have reached depth
d; it never grows with d, and forgetting positions is lowering a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from hsd_core.levels.tree import in_order
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.passes import Branches
from hsd_core.models.protocol import Decoder
from hsd_core.trace import Span

STATE_BYTES = 4  # of a number of a hidden state, at most


@runtime_checkable
class Layered(Decoder, Protocol):
    """A decoder whose layers can be run in ranges: `CompiledDecoder`, `LeanDecoder`."""

    shape: LeanShape

    def embed(self, ids: Sequence[int]) -> Tensor: ...

    def forward_layers(
        self, x: Tensor, cache: Any, start: int, lo: int, hi: int, branches: Branches | None = None
    ) -> Tensor: ...

    def head(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class Prepared(Protocol):
    """A decoder that records its passes ahead of a run."""

    def prepare(self, cache: Any, depths: Sequence[int]) -> None:
        """Record the passes through the layers from depth to depth, rising from 0, over this cache, still unused."""


class Trunk:
    """One run's keys, values and hidden states of one model; nothing is allocated before the first layer runs."""

    def __init__(self, decoder: Layered, capacity: int, branches: int = 0) -> None:
        self.decoder, self.capacity, self._branches = decoder, capacity, branches
        self.resting = False  # nobody runs all of it in the present rounds: its last states do not grow
        self._valid: dict[int, int] = {}  # depth -> positions, depths rising
        self._hidden: dict[int, Tensor] = {}
        self._grown: set[int] = set()  # depths whose last positions are nodes of a tree
        self._cache: Any = None

    @property
    def room(self) -> int:
        """Slots: the positions of a context, and the nodes of a tree behind it."""
        return self.capacity + self._branches

    @property
    def shallowest(self) -> int:
        """The lowest marked depth."""
        return min(self._valid)

    def mark(self, depth: int) -> None:
        """Keep the hidden states after `depth` layers, 1 to all of them.

        Raises:
            ValueError: there is no such depth, or layers have been run already.
        """
        if not 1 <= depth <= self.decoder.layers:
            raise ValueError(f"depth {depth} is outside 1 to {self.decoder.layers}, the layers of the model")
        if self._cache is not None and depth not in self._valid:
            raise ValueError(f"depth {depth} was not marked before the first layer ran")
        if depth not in self._valid:
            self._valid = dict.fromkeys(sorted({*self._valid, depth}), 0)

    def prepare(self) -> None:
        """All depths are marked: have their passes recorded, where the decoder does that."""
        if isinstance(self.decoder, Prepared):
            self.decoder.prepare(self._kv(), list(self._valid))

    def valid(self, depth: int) -> int:
        """How many positions have reached a marked depth."""
        return self._valid[depth]

    def hidden(self, depth: int, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) states after `depth` layers, of positions that have reached it."""
        assert lo <= hi <= self._valid[depth], f"depth {depth}: positions {lo} to {hi} of {self._valid[depth]}"
        return self._hidden[depth][lo:hi]

    @torch.inference_mode()
    def run(self, ids: Sequence[int], depth: int, end: int, branches: Branches | None = None) -> tuple[Span, ...]:
        """Bring a marked depth up to slot `end` (exclusive), running each layer where it has not been run.

        Args:
            ids: of the context and, with `branches`, of the nodes of a tree behind it.
        Returns:
            The layers run and on how many positions, neighbours with equal positions as one.
        """
        spans: list[Span] = []
        below = 0
        for at in self._valid:
            if at > depth:
                break
            for lo in range(self._valid[at], end, lean.CHUNK):
                hi = min(lo + lean.CHUNK, end)
                x = self.hidden(below, lo, hi) if below else self.decoder.embed(ids[lo:hi])
                if branches is not None and hi > branches.base:
                    self._grown.add(at)
                self._put(at, lo, self.decoder.forward_layers(x, self._kv(), lo, below, at, branches))
                _add(spans, Span(below, at, hi - lo))
            below = at
        return tuple(spans)

    def cut(self, length: int, depth: int | None = None) -> None:
        """Forget every position from `length` on, at `depth` and the depths below it (at all of them)."""
        for at, valid in self._valid.items():
            if depth is None or at <= depth:
                self._valid[at] = min(valid, length)
                self._grown.discard(at)

    @torch.inference_mode()
    def keep(self, start: int, path: Sequence[int], depth: int) -> None:
        """Of the tree behind the first `start` positions keep a path, at `depth` and below; forget the other nodes.

        Depths that have seen the first nodes alone keep what they have of the path.
        """
        below = 0
        for at, valid in self._valid.items():
            if at > depth:
                break
            length = start + len(path)
            if at in self._grown:
                mine = [node for node in path if start + node < valid]
                length = start + len(mine)
                if not in_order(mine):
                    self._kv().keep(start, mine, below, at)
                    hidden = self._hidden[at]
                    hidden[start:length] = hidden[sent(mine, hidden.device) + start]
                self._grown.discard(at)
            self._valid[at], below = min(valid, length), at

    @property
    def nbytes(self) -> int:
        """Of keys, values and hidden states, once the first layer has run."""
        states = len(self._valid) * self.room * self.decoder.shape.hidden * STATE_BYTES
        return self.decoder.cache_bytes(self.capacity, branches=self._branches) + states

    def _kv(self) -> Any:
        if self._cache is None:
            self._cache = self.decoder.new_cache(self.capacity, branches=self._branches)
        return self._cache

    def _put(self, depth: int, start: int, x: Tensor) -> None:
        if depth not in self._hidden:
            self._hidden[depth] = x.new_zeros(self.room, x.shape[1])
        self._hidden[depth][start : start + len(x)] = x
        self._valid[depth] = start + len(x)


def _add(spans: list[Span], new: Span) -> None:
    """One pass through neighbouring layers on as many positions is one span."""
    if spans and (spans[-1].hi, spans[-1].rows) == (new.lo, new.rows):
        new = Span(spans.pop().lo, new.hi, new.rows)
    spans.append(new)
