"""Lookups and another drafter as one level at the bottom of a stack: one after the other, or merged in one draft.

In order: Hierarchy Drafting asks its databases in order of locality and stops at the first that answers (arXiv
2502.05609); here a trained draft comes after the databases. Which of the two drafts depends on the past only.

Merged: RASD (arXiv 2503.03434) prunes a retrieval tree by the draft model's first row and merges it with the draft's
tree. Here a looked-up token is handed up as named, and its siblings are drawn from the rest of the drafter's
distribution (`growing.draft_tree`).

In both cases every token is handed up with the row that it was drawn from, or as named, so the stack stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from torch import Tensor

from hsd_core.core.level import DraftOrder, Level, LevelAbout, LevelRun, Outcome, Proposal, Work, scorer
from hsd_core.core.level import drafter as drafter_of
from hsd_core.core.notes import Note, noted
from hsd_core.core.tree import NOTHING, Probes, Tree
from hsd_core.levels.lookup_trie import Found, merging
from hsd_core.levels.notes import unanswered
from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.levels.trunk import Features
from hsd_core.models.context import Context


class LookupsRun(LevelRun, Protocol):
    """The run of lookups."""

    def propose(self, context: Context, order: DraftOrder) -> Proposal: ...

    def look_up(self, context: Context, order: DraftOrder) -> tuple[list[list[Found]], int]:
        """Sequences that may follow, cut to the order's limit and at its ends; the number of lookups without an
        answer."""
        ...


@runtime_checkable
class Lookups(Protocol):
    """A level that looks sequences up."""

    name: str
    about: LevelAbout

    def window_probes(self, text: Sequence[int]) -> Probes:
        """The probes that every verification of its drafts computes once they are full, for any text."""
        ...

    def open(self, capacity: int, shared: SharedState) -> LookupsRun: ...


class _Run:
    """The cache is the drafter's, which catches up on looked-up tokens when it drafts again."""

    def __init__(self, lookups: LookupsRun, drafter: LevelRun) -> None:
        self._lookups, self._drafter = lookups, drafter_of(drafter)

    @property
    def cached(self) -> int:
        return self._drafter.cached

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """For the prompt only: the level never verifies."""
        return scorer(self._drafter).score(context, tree)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._drafter.keep(start, path)

    def observe(self, outcome: Outcome) -> Note | None:
        self._drafter.observe(outcome)
        return self._lookups.observe(outcome)

    def close(self) -> None:
        self._lookups.close()
        self._drafter.close()


class OrderedRun(_Run):
    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        found = self._lookups.propose(context, order)
        if found.ids:
            return found
        drafted = self._drafter.propose(context, order)
        work = drafted.work
        both = Work(found.work.forwards + work.forwards, work.rows, work.catch_up, work.ran)
        return replace(drafted, work=both, probes=found.probes, notes={**drafted.notes, **found.notes})


class FusedRun(_Run):
    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        found, silent = self._lookups.look_up(context, order)
        drafted = self._drafter.propose(context, merging(order, found))
        return replace(drafted, notes={**drafted.notes, **noted(unanswered(drafted.notes, silent))})


class _Level:
    """A level that only drafts."""

    can_verify = False
    run: ClassVar[type[OrderedRun | FusedRun]]

    def __init__(
        self, lookups: Lookups, drafter: Level, *, as_: Level | Lookups, label: str, params: Mapping[str, object]
    ) -> None:
        """as_: the one of the two that gives name and kind."""
        self.lookups, self.drafter = lookups, drafter
        self.name, self.vocab_size, self.max_positions = as_.name, drafter.vocab_size, drafter.max_positions
        self.has_cache = drafter.has_cache
        kind, params = as_.about.kind, dict(params)
        self.about = replace(drafter.about, kind=kind, label=label, params=params, sequences=1, probes=0)

    def enter(self, shared: SharedState) -> Features | None:
        return self.drafter.enter(shared) if isinstance(self.drafter, Sharing) else None

    def window_probes(self, text: Sequence[int]) -> Probes:
        """See `Lookups.window_probes`."""
        return self.lookups.window_probes(text)

    def open(self, capacity: int, shared: SharedState) -> OrderedRun | FusedRun:
        return self.run(self.lookups.open(capacity, shared), self.drafter.open(capacity, shared))


class OrderedLevel(_Level):
    """Lookups, and the drafts of another level when they find nothing."""

    run = OrderedRun

    def __init__(self, lookups: Lookups, drafter: Level, name: str) -> None:
        """name: of the second drafter, in a trace."""
        first, second = lookups.about, drafter.about
        params, label = {**first.params, "miss": name}, f"{first.label}, else {second.label}"
        super().__init__(lookups, drafter, as_=lookups, label=label, params=params)
        self.about.sequences, self.about.probes = first.sequences, first.probes


class FusedLevel(_Level):
    """`drafter`, with the sequences of `lookups` merged into its tree."""

    run = FusedRun

    def __init__(self, drafter: Level, lookups: Lookups) -> None:
        params = {**lookups.about.params, **drafter.about.params, "fuse": lookups.about.sequences}
        params.pop("guess", None)
        super().__init__(lookups, drafter, as_=drafter, label=f"{drafter.about.label}, with lookups", params=params)
        # for the estimate of memory
        self.decoder: Any = getattr(drafter, "decoder", None)
        self.readout: Any = getattr(drafter, "draft", None) or getattr(drafter, "readout", None)
