"""Drafts of all layers of a model, the target or a smaller one, with several attentions at once (EasySpec, arXiv
2502.02493); and of the target without some of its sublayers (Draft & Verify, arXiv 2309.08168).

Such a pass is *fuzzy*: after the first group, or the first omitted sublayer, keys and values differ from those of the
layers in order (`models/lean/sublayers.py`), and a drafter that continues from fuzzy ones drifts away. So it is
calibrated: every round begins from true keys and values. A level above that runs all layers of the same weights has
them; the draft is written into the slots after them, and verification overwrites it. Without such a level the drafter
runs the new part of the context in order before it drafts. Uncalibrated (groups only) everything stays fuzzy, the
prompt too.

The row handed up is the fuzzy one that the token was drawn from, and it depends on the past only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import CommittedIds, DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.cache import Cache, KVCache, Positions
from hsd_core.models.context import Context
from hsd_core.models.lean.decoder import CHUNK
from hsd_core.models.lean.sublayers import BOTH, Sublayers
from hsd_core.models.one_pass import Branches, Pass, in_order


@runtime_checkable
class Grouped(Layered, Protocol):
    """A decoder that runs attentions of several layers on one input: `CompiledDecoder`, `LeanDecoder`."""

    def in_groups(self, cache: Cache, together: int) -> Callable[[Pass], Tensor]:
        """A function that runs a pass through all layers over this cache, `together` attentions at once, and returns
        the (n, hidden) states after the last one. 1: the layers in order."""
        ...


@runtime_checkable
class Sublayered(Layered, Protocol):
    """A decoder that leaves out attentions and MLPs of its layers: `CompiledDecoder`, `LeanDecoder`."""

    @property
    def last_norm(self) -> Tensor: ...

    def leaving_out(self, cache: Cache, without: Sublayers) -> Callable[[Pass], Tensor]:
        """A function that runs a pass through the other sublayers over this cache and returns the (n, hidden) states
        after the last one. The cache of a layer without its attention is not changed."""
        ...


class SelfLevel(OverDecoder):
    """All layers of a model, several attentions at once. kind, of: another kind's, for a model that is not the target,
    and what its label calls it."""

    over_target = True

    def __init__(
        self,
        decoder: Grouped,
        together: int,
        *,
        calibrated: bool = True,
        weights: dict[str, object] | None = None,
        kind: str = "self",
        of: str = "self-draft",
    ) -> None:
        how = f"{together} attentions at once" if together > 1 else "attention by attention"
        params: dict[str, object] = {"parallel": together, "calibrate": calibrated}
        label = f"{of}, {how}" + ("" if calibrated else ", never calibrated")
        super().__init__(
            decoder, name=kind, kind=kind, label=label, layers=decoder.layers, params=params, weights=weights
        )
        self.decoder, self.together, self.calibrated = decoder, together, calibrated

    def enter(self, shared: SharedState) -> Trunk | None:
        return shared.lent(self.decoder)[0] if self.calibrated else None

    def open(self, capacity: int, shared: SharedState) -> FuzzyRun:
        if self.calibrated:
            return CalibratedRun(self.decoder, self._opened, self.name, *shared.lent(self.decoder))
        cache = self.decoder.new_cache(capacity, branches=shared.branches)
        return FuzzyRun(self.decoder, self._opened, self.name, lambda: cache)

    def _opened(self, cache: Cache) -> Callable[[Pass], Tensor]:
        return self.decoder.in_groups(cache, self.together)


class SkipLevel(OverDecoder):
    """A model without some of its sublayers, calibrated in every round.

    called: the name of the set. weights: as of `ModelLevel`.
    """

    over_target = True

    def __init__(
        self,
        decoder: Sublayered,
        without: Sublayers,
        *,
        called: str = "",
        weights: dict[str, object] | None = None,
    ) -> None:
        """
        Raises:
            ValueError: the model has no such layers.
        """
        if beyond := [layer for _, layer in without.named() if not 0 <= layer < decoder.layers]:
            raise ValueError(f"layer {beyond[0]} is none of the model's {decoder.layers}, which count from 0")
        out = {kind: sorted(layers) for kind, layers in zip(BOTH, without, strict=True)}
        params: dict[str, object] = {"set": called, "left_out": out, "calibrate": True}
        label = f"without {without.size} of {2 * decoder.layers} sublayers"
        super().__init__(
            decoder, name="skip", kind="skip", label=label, layers=decoder.layers, params=params, weights=weights
        )
        self.decoder, self.without = decoder, without

    def enter(self, shared: SharedState) -> Trunk:
        return shared.lent(self.decoder)[0]

    def open(self, capacity: int, shared: SharedState) -> CalibratedRun:
        self._opened(self.decoder.new_cache(1))  # prepare this set before the run begins
        return CalibratedRun(self.decoder, self._opened, self.name, *shared.lent(self.decoder))

    def _opened(self, cache: Cache) -> Callable[[Pass], Tensor]:
        return self.decoder.leaving_out(cache, self.without)


Opened = Callable[[Cache], Callable[[Pass], Tensor]]  # cache -> the function that runs a pass of the draft


class FuzzyRun:
    """`cached` slots are filled, all by fuzzy passes. kv: returns the cache, which the first pass needs."""

    def __init__(self, decoder: Layered, opened: Opened, source: str, kv: Callable[[], Cache]) -> None:
        self._decoder, self._opened, self._source, self._kv = decoder, opened, source, kv
        self._run: Callable[[Pass], Tensor] | None = None
        self._context, self._drafting = 0, False  # the length of the context of the draft or score
        self.cached = 0

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        self._context, self._drafting = len(context), True
        try:
            return draft(self, context, order, self._source)
        finally:
            self._drafting = False

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._score(context + ids, max(1, new), branches)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        if not self._drafting:
            self._context = len(context)
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._score(context + tree.ids if len(tree) else context, len(tree) + 1, branches)

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int, branches: Branches | None = None) -> tuple[Tensor, Work]:
        end = len(ids)
        if end - self.cached < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but only {end - self.cached} tokens are new")
        start, spans = self._calibrated(ids)
        true, given = self.cached, Pass(ids[self.cached :], self.cached, 0, branches)
        fuzzy = list[Tensor]()
        if given.ids:
            self._run = self._run or self._opened(self._kv())
            fuzzy = [self._run(part) for part in given.parts(CHUNK)]
            self.cached, spans = end, (*spans, Span(0, self._decoder.layers, end - true))
        x = torch.cat([*self._states(end - rows, true), *fuzzy])
        return self._decoder.head(x[len(x) - rows :]), Work(1, end - start, end - start - rows, spans)

    def _calibrated(self, ids: Sequence[int]) -> tuple[int, tuple[Span, ...]]:
        """Run layers in order where needed, up to the new `cached`. Returns the first slot run, and the layers run."""
        return self.cached, ()

    def _states(self, lo: int, hi: int) -> list[Tensor]:
        """The last states of slots lo to hi - 1 that `_calibrated` has just run in order."""
        return []

    def keep(self, start: int, path: Sequence[int]) -> None:
        cache = cast("KVCache", self._kv())
        cache.length = self.cached
        cache.keep(start, path)
        self.cached = cache.length

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: fuzzy states stay."""

    def close(self) -> None:
        self._kv, self._run = Positions, None


class CalibratedRun(FuzzyRun):
    """`cached` slots are filled, those that the trunk has seen with true keys and values.

    filled: whether a level above runs the trunk's layers; else this one does, for the new part of the context.
    """

    def __init__(self, decoder: Layered, opened: Opened, source: str, trunk: Trunk, filled: bool) -> None:
        super().__init__(decoder, opened, source, trunk.kv)
        self._trunk, self._filled, self._known = trunk, filled, 0

    @property
    def _true(self) -> int:
        return self._trunk.valid(self._decoder.layers)

    def _calibrated(self, ids: Sequence[int]) -> tuple[int, tuple[Span, ...]]:
        self._learn()
        true = self._true
        if self._filled or self._context <= true:
            return self.cached, ()
        spans = self._trunk.run(ids, self._decoder.layers, self._context)
        self.cached = self._context
        return true, spans

    def _states(self, lo: int, hi: int) -> list[Tensor]:
        lo = max(lo, 0)
        return [] if self._filled or lo >= hi else [self._trunk.hidden(self._decoder.layers, lo, hi)]

    def _learn(self) -> None:
        """Slots that a level above has run meanwhile are true, and later fuzzy ones are dropped."""
        if self._filled and self._true > self._known:
            self.cached = self._known = self._true

    def keep(self, start: int, path: Sequence[int]) -> None:
        # The slots are the trunk's, which moves its nodes of the path; fuzzy nodes out of order are dropped.
        self.cached = min(self.cached, start + len(path) if in_order(path) else start)
        self._known = min(self._known, self.cached)
        if not self._filled:
            self._trunk.cut(self.cached)

    def observe(self, outcome: Outcome) -> None:
        """A level above has verified, or processed the prompt."""
        if isinstance(outcome, CommittedIds):
            self._learn()
