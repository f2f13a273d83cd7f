"""A level whose trees are greedy draft sets (Optimal multi-draft speculative decoding, arXiv 2502.18779).

Of k candidates for one place the likeliest k - 1 of q are named, and one is drawn from the rest q'. The best exact rule
keeps one of them with probability

    p(named) + sum over the others of min(p, q')

and `tokenwise` reaches it: it judges the drawn token first, and a rejected one leaves norm(max(p - q', 0)), in which
the named ones have all of their p. Greedy runs offer the likeliest tokens however they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import Tensor

from hsd_core.core.level import DraftOrder, Level, LevelRun, Outcome, Proposal, Sampler, Work, drafter, scorer
from hsd_core.core.notes import Note
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.levels.trunk import Features
from hsd_core.models.context import Context
from hsd_core.models.sampling import largest


@dataclass(frozen=True, slots=True)
class SetSampler(Sampler):
    """See `levels.growing.Names`."""

    def names(self, q: Tensor, wide: int) -> list[int]:
        """The likeliest tokens of a (V,) row: one less than `wide`, and than have any mass."""
        count = min(wide, int(q.count_nonzero())) - 1
        found: list[int] = largest(q[None], count)[1][0].tolist() if count > 0 else []
        return found


class SetRun:
    """A level's run that drafts with a `SetSampler`."""

    def __init__(self, run: LevelRun) -> None:
        self._run = run

    @property
    def cached(self) -> int:
        return self._run.cached

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        sampler = SetSampler(**{one.name: getattr(order.sampler, one.name) for one in fields(Sampler)})
        return drafter(self._run).propose(context, replace(order, sampler=sampler))

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return scorer(self._run).score(context, tree)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._run.keep(start, path)

    def observe(self, outcome: Outcome) -> Note | None:
        return self._run.observe(outcome)

    def close(self) -> None:
        self._run.close()


class SetLevel:
    """`drafter`, with trees of greedy draft sets."""

    def __init__(self, drafter: Level) -> None:
        self.drafter, self.name, self.can_verify = drafter, drafter.name, drafter.can_verify
        self.has_cache, self.vocab_size, self.max_positions = (
            drafter.has_cache,
            drafter.vocab_size,
            drafter.max_positions,
        )
        self.about = replace(drafter.about, params={**drafter.about.params, "draw": "set"})
        # for the estimate of memory
        self.decoder: Any = getattr(drafter, "decoder", None)
        self.readout: Any = getattr(drafter, "draft", None) or getattr(drafter, "readout", None)

    def enter(self, shared: SharedState) -> Features | None:
        return self.drafter.enter(shared) if isinstance(self.drafter, Sharing) else None

    def open(self, capacity: int, shared: SharedState) -> SetRun:
        return SetRun(self.drafter.open(capacity, shared))
