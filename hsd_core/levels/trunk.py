"""The trunk: the state that levels over one model share in one run.

Every level that reads the model after some of its layers (an early exit) or after all of them uses the same keys,
values and hidden states. A layer is run on a position once: the exit at layer 4 runs layers 0-3, and a verifier above
it continues from there (HiSpec, arXiv 2510.01336, section 3.1; LayerSkip, arXiv 2404.16710, section 4.3).

Hidden states are kept at marked depths only. `valid(d)` is the number of positions of the context that have reached
depth d; it does not increase with d, and positions are forgotten by lowering it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.models.cache import Cache, KVCache, Positions
from hsd_core.models.decoder_protocol import Decoder
from hsd_core.models.decoder_protocol import Layered as Layered
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.lean import decoder as lean
from hsd_core.models.one_pass import Branches, Pass

STATE_BYTES = 4  # of a number of a hidden state, at most


class Features(Protocol):
    """States of a model that runs all its layers, for a drafter that reads them: a `Trunk`, a `WholeTrunk`."""

    resting: bool

    @property
    def decoder(self) -> Decoder: ...

    def mark(self, depth: int, *, features_only: bool = False) -> None: ...

    def valid(self, depth: int) -> int: ...

    def hidden(self, depth: int, lo: int, hi: int) -> Tensor: ...


@runtime_checkable
class Prepared(Protocol):
    """A decoder that records its passes before a run."""

    def prepare(self, cache: Cache, depths: Sequence[int]) -> None:
        """Record the passes through the layers between these rising depths, from 0, over this unused cache."""


class Section(Positions):
    """Layers lo to hi - 1 in one run: how many positions they have processed, the cache, the states after them.

    has_tree: whether the last positions are nodes of a tree.
    """

    __slots__ = ("has_tree", "hi", "kv", "lo", "states")

    def __init__(self, lo: int, hi: int) -> None:
        super().__init__()
        self.lo, self.hi, self.has_tree = lo, hi, False
        self.kv: KVCache | None = None
        self.states: Tensor | None = None

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        super().cut(length)
        self.has_tree = False

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`. Without a tree the processed positions are the beginning of the path."""
        if self.has_tree:
            super().keep(base, path)
        else:
            self.cut(base + len(path))

    @torch.inference_mode()
    def move(self, base: int, nodes: Sequence[int]) -> None:
        """See `Positions.move`."""
        assert self.kv is not None and self.states is not None
        self.kv.move(base, nodes, self.lo, self.hi)
        self.states[base : base + len(nodes)] = self.states[sent(nodes, self.states.device) + base]


class Trunk:
    """One run's keys, values and hidden states of one model; nothing is allocated before the first layer runs."""

    def __init__(self, decoder: Layered, capacity: int, branches: int = 0) -> None:
        self.decoder, self.capacity, self._branches = decoder, capacity, branches
        self.resting = False  # no level runs all of its layers in the present rounds
        self.lent = False  # a drafter writes into its free slots
        self.joined = False  # a draft and the level above both read its last states
        self._sections: dict[int, Section] = {}  # marked depth -> the layers below it, down to the next; rising
        self._for_features: set[int] = set()  # marked for a drafter's features only; no level reads the model there
        self._cache: KVCache | None = None

    @property
    def room(self) -> int:
        """Slots: the positions of a context, and the nodes of a tree after it."""
        return self.capacity + self._branches

    @property
    def shallowest(self) -> int:
        """The lowest depth at which a level reads the model."""
        return min(self._sections.keys() - self._for_features)

    def mark(self, depth: int, *, features_only: bool = False) -> None:
        """Keep the hidden states after `depth` layers, 1 to all of them.

        Args:
            features_only: for the features of a drafter only.

        Raises:
            ValueError: there is no such depth, or layers have been run already.
        """
        if not 1 <= depth <= self.decoder.layers:
            raise ValueError(f"depth {depth} is outside 1 to {self.decoder.layers}, the layers of the model")
        if not features_only:
            self._for_features.discard(depth)
        if depth in self._sections:
            return
        if self._cache is not None:
            raise ValueError(f"depth {depth} was not marked before the first layer ran")
        if features_only:
            self._for_features.add(depth)
        depths = sorted({*self._sections, depth})
        self._sections = {hi: Section(lo, hi) for lo, hi in pairwise((0, *depths))}

    def prepare(self) -> None:
        """Record the passes between marked depths, if the decoder can; called when all depths are marked."""
        if isinstance(self.decoder, Prepared):
            self.decoder.prepare(self.kv(), list(self._sections))

    def valid(self, depth: int) -> int:
        """The number of positions that have reached a marked depth."""
        return self._sections[depth].length

    def hidden(self, depth: int, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) states after `depth` layers, of positions that have reached it."""
        section = self._sections[depth]
        assert lo <= hi <= section.length, f"depth {depth}: positions {lo} to {hi} of {section.length}"
        assert section.states is not None
        return section.states[lo:hi]

    @torch.inference_mode()
    def run(self, ids: Sequence[int], depth: int, end: int, branches: Branches | None = None) -> tuple[Span, ...]:
        """Bring a marked depth up to slot `end` (exclusive), running each layer on the positions that it lacks.

        Args:
            ids: of the context and, with `branches`, of the nodes of a tree after it.
        Returns:
            The layers run and on how many positions; adjacent spans with equal positions are merged.
        """
        spans: list[Span] = []
        for section in self._until(depth):
            start = section.length
            for part in Pass(ids[start:end], start, 0, branches).parts(lean.CHUNK) if start < end else ():
                x = self.hidden(section.lo, part.start, part.end) if section.lo else None
                section.has_tree |= part.tree is not None
                self._put(section, part, self.decoder.forward_layers(part, self.kv(), section.lo, section.hi, x))
                _add(spans, Span(section.lo, section.hi, len(part.ids)))
        return tuple(spans)

    def cut(self, length: int, depth: int | None = None) -> None:
        """Forget every position from `length` on, at `depth` and the depths below it (at all of them)."""
        for section in self._until(self.decoder.layers if depth is None else depth):
            section.cut(length)

    def keep(self, base: int, path: Sequence[int], depth: int) -> None:
        """See `Cache.keep`, at `depth` and below."""
        for section in self._until(depth):
            section.keep(base, path)

    def _until(self, depth: int) -> Iterator[Section]:
        return (section for section in self._sections.values() if section.hi <= depth)

    @property
    def nbytes(self) -> int:
        """Bytes of keys, values and hidden states, once the first layer has run."""
        states = len(self._sections) * self.room * self.decoder.shape.hidden * STATE_BYTES
        return self.decoder.cache_bytes(self.capacity, branches=self._branches) + states

    def kv(self) -> KVCache:
        """Keys and values of all layers."""
        if self._cache is None:
            self._cache = self.decoder.new_cache(self.capacity, branches=self._branches)
            for section in self._sections.values():
                section.kv = self._cache
        return self._cache

    def _put(self, section: Section, part: Pass, x: Tensor) -> None:
        if section.states is None:
            section.states = x.new_zeros(self.room, x.shape[1])
        section.states[part.start : part.end] = x
        section.length = part.end


F = TypeVar("F", bound=Features)


def _add(spans: list[Span], new: Span) -> None:
    """Append a span, merged with the last one if the layers are adjacent and the positions equal."""
    if spans and (spans[-1].hi, spans[-1].rows) == (new.lo, new.rows):
        new = Span(spans.pop().lo, new.hi, new.rows)
    spans.append(new)


def nearest(features: Sequence[F]) -> F:
    """The trunk that a drafter's features come from: the first that does not rest, of those given nearest first."""
    return next((trunk for trunk in features if not trunk.resting), features[-1])
