"""A drafter with lookups beside it: what was looked up is merged into the tree that it drafts, for one pass to judge.

RASD (arXiv 2503.03434) prunes a retrieval tree by the draft model's first row and merges it with the draft's tree. Here
a looked-up token goes up as named, whatever the drafter thinks of it, and its siblings are drawn from what is left of
the drafter's law (`growing.draft_tree`): so every offer is judged as what it is, and the stack stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hsd_core.levels.ngram import NgramLevel, NgramRun
from hsd_core.levels.protocol import Counts, DraftOrder, Level, Outcome, Proposal, Work
from hsd_core.levels.shared import Sharing
from hsd_core.levels.tree import NOTHING, Tree

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.shared import SharedState
    from hsd_core.levels.trunk import Trunk


class FusedLevel:
    """`drafter` at the bottom of a stack, `lookups` beside it."""

    can_draft = True
    can_verify = False

    def __init__(self, drafter: Level, lookups: NgramLevel) -> None:
        self.drafter, self.lookups = drafter, lookups
        self.name, self.kind = drafter.name, drafter.kind
        self.label = f"{drafter.label}, with lookups"
        self.has_cache, self.vocab_size = drafter.has_cache, drafter.vocab_size
        self.max_positions, self.layers, self.weights = drafter.max_positions, drafter.layers, drafter.weights
        self.device, self.dtype = drafter.device, drafter.dtype
        self.params: dict[str, object] = {**lookups.params, **drafter.params, "fuse": lookups.guess}
        self.params.pop("guess", None)
        # what its memory is counted by
        self.decoder: Any = getattr(drafter, "decoder", None)
        self.readout: Any = getattr(drafter, "draft", None) or getattr(drafter, "readout", None)

    def enter(self, shared: SharedState) -> Trunk | None:
        return self.drafter.enter(shared) if isinstance(self.drafter, Sharing) else None

    def open(self, capacity: int, shared: SharedState) -> FusedRun:
        return FusedRun(self.drafter.open(capacity, shared), self.lookups.open(capacity, shared))


class FusedRun:
    """The cache is the drafter's."""

    def __init__(self, drafter: Any, lookups: NgramRun) -> None:
        self._drafter, self._lookups = drafter, lookups

    @property
    def cached(self) -> int:
        return int(self._drafter.cached)

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        found, silent = self._lookups.look_up(context, order)
        drafted: Proposal = self._drafter.propose(context, replace(order, beside=found))
        self._lookups.offered(s for s, key in zip(drafted.sources, drafted.keys, strict=False) if key)
        return replace(drafted, silent=silent)

    def score(self, context: Sequence[int], tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Only for the prompt: the level never verifies."""
        scored: tuple[Tensor, Work] = self._drafter.score(context, tree)
        return scored

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._drafter.keep(start, path)

    def observe(self, outcome: Outcome) -> Counts | None:
        self._drafter.observe(outcome)
        return self._lookups.observe(outcome)

    def close(self) -> None:
        self._lookups.close()
        self._drafter.close()
