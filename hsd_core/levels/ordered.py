"""Two drafters in order: the first drafts where it has something to say, the second where it has not.

Hierarchy Drafting asks its databases in order of locality and stops at the first that answers (arXiv 2502.05609); here
a nano model stands behind the databases. Which of both drafts depends on the past alone, and every token goes up
with the row that it was drawn from, so nothing changes for the verifier above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hsd_core.levels.nano import NanoLevel
from hsd_core.levels.ngram import NgramLevel, NgramRun
from hsd_core.levels.protocol import Counts, DraftOrder, Outcome, Proposal, Work
from hsd_core.levels.tree import NOTHING, Tree

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.draft_run import DraftRun
    from hsd_core.levels.shared import SharedState
    from hsd_core.levels.trunk import Trunk


class OrderedLevel:
    """Lookups, and on a miss the drafts of a nano model. It drafts only, as lookups do."""

    kind = "ngram"
    can_draft = True
    can_verify = False
    has_cache = True

    def __init__(self, first: NgramLevel, second: NanoLevel) -> None:
        self.first, self.second = first, second
        self.name, self.label = first.name, f"{first.label}, else {second.label}"
        self.vocab_size, self.max_positions, self.layers = second.vocab_size, second.max_positions, second.layers
        self.device, self.dtype, self.weights = second.device, second.dtype, second.weights
        self.guess, self.probes = first.guess, first.probes
        self.params: dict[str, object] = {**first.params, "miss": second.draft.name}

    def enter(self, shared: SharedState) -> Trunk | None:
        return self.second.enter(shared)

    def open(self, capacity: int, shared: SharedState) -> OrderedRun:
        return OrderedRun(self.first.open(capacity, shared), self.second.open(capacity, shared))


class OrderedRun:
    """The cache is the second drafter's: what was looked up is caught up on when it is asked again."""

    def __init__(self, first: NgramRun, second: DraftRun) -> None:
        self._first, self._second = first, second

    @property
    def cached(self) -> int:
        return self._second.cached

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        found = self._first.propose(context, order)
        if found.ids:
            return found
        drafted = self._second.propose(context, order)
        work = drafted.work
        both = Work(found.work.forwards + work.forwards, work.rows, work.catch_up, work.ran)
        return replace(drafted, work=both, silent=found.silent, probes=found.probes)

    def score(self, context: Sequence[int], tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Only for the prompt: the level never verifies."""
        return self._second.score(context, tree)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._second.keep(start, path)

    def observe(self, outcome: Outcome) -> Counts | None:
        self._second.observe(outcome)
        return self._first.observe(outcome)

    def close(self) -> None:
        self._first.close()
        self._second.close()
