"""Levels without weights: they say what the world says, and a call takes the profile's milliseconds on its clock.

Rows are one-hot: a level of a world of words has no distribution, so these runs are greedy. A call costs what the
profile gives for the rows that decide something; rows that only bring a cache up to date, and a short prompt, go
through at no extra price, as the theory reckons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.levels.protocol import (
    Committed,
    DraftOrder,
    Outcome,
    Proposal,
    Work,
    draft_token_by_token,
    score_by_branches,
)
from hsd_core.levels.tree import NOTHING, Tree, in_order
from hsd_core.theory.profiles.costs import Costs
from hsd_core.whatif.world import Marks, World, after

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.shared import SharedState

PLACE = "simulated"  # stands where a real level names its device
_HIT, _REACH = 1, 2  # further coins of a lookup


class Ticker:
    """Simulated nanoseconds; they pass only when a level spends them. One object serves one run."""

    def __init__(self) -> None:
        self.ns = self.calls = 0

    def now(self) -> int:
        return self.ns

    def spend(self, ms: float) -> None:
        self.ns += round(ms * 1e6)
        self.calls += 1


@dataclass(eq=False)
class SyntheticLevel:
    """A level of a plan, at a place of it.

    Args:
        cost: ms of a call by the rows that decide; of a bottom drafter: of each token. round_ms: of the target, the
            engine's own time after a round.
    """

    can_draft = can_verify = has_cache = True
    device = PLACE
    dtype = "no weights"

    world: World
    ticker: Ticker
    place: int
    cost: Costs
    name: str
    kind: str
    vocab_size: int
    params: dict[str, object]
    round_ms: float = 0.0
    label: str = ""
    max_positions: int | None = None
    layers: int | None = None
    weights: dict[str, object] | None = None

    def __post_init__(self) -> None:
        self.label = self.name

    def open(self, capacity: int, shared: SharedState) -> SyntheticRun:
        return SyntheticRun(self)


class SyntheticRun:
    def __init__(self, level: SyntheticLevel) -> None:
        self._level = level
        self._marks = Marks(level.world.root)
        self._prompted = False
        self.cached = 0

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        return draft_token_by_token(self, context, order, self._level.label)

    def score(self, context: Sequence[int], tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return score_by_branches(self._score, self._cut, context, tree)

    def _score(self, ids: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        import torch

        level = self._level
        computed, self.cached = len(ids) - self.cached, len(ids)
        assert computed >= rows, f"{level.label}: {rows} rows asked for, {computed} tokens are new"
        marks = self._marks.of(ids)
        level.ticker.spend(level.cost(rows))
        lengths = range(len(ids) - rows + 1, len(ids) + 1)
        words = torch.tensor([level.world.says(level.place, marks[n], n) for n in lengths])
        logits = torch.full((rows, level.vocab_size), float("-inf"))
        return logits.scatter_(1, words.unsqueeze(1), 0.0), Work(1, computed, computed - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._cut(start + len(path) if in_order(path) else start)

    def observe(self, outcome: Outcome) -> None:
        if isinstance(outcome, Committed):
            if self._prompted and self._level.round_ms:
                self._level.ticker.spend(self._level.round_ms)
            self._prompted = True

    def close(self) -> None:
        """Nothing is held outside this object."""

    def _cut(self, length: int) -> None:
        self.cached = min(self.cached, length)


@dataclass(eq=False)
class SyntheticLookup(SyntheticLevel):
    """A lookup: asked once a block, it answers with probability `hit_rate`; `reach` as in a profile."""

    can_verify = has_cache = False

    hit_rate: float = 0.0
    reach: tuple[float, ...] = ()

    def open(self, capacity: int, shared: SharedState) -> SyntheticLookupRun:
        return SyntheticLookupRun(self)

    def found(self, mark: int, limit: int) -> int:
        """How many tokens the lookup gives after a prefix, of at most `limit`."""
        if self.world.coin(mark, self.place, _HIT) >= self.hit_rate:
            return 0
        coin = self.world.coin(mark, self.place, _REACH)
        chances = (self.reach[min(m, len(self.reach) - 1)] if self.reach else 1.0 for m in range(limit))
        return sum(coin < chance for chance in chances)


class SyntheticLookupRun(SyntheticRun):
    """It holds nothing of the context and learns nothing: how often it hits stands in the profile."""

    _level: SyntheticLookup

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        level, mark = self._level, self._marks.of(context)[len(context)]
        level.ticker.spend(level.cost(1))
        ids: list[int] = []
        for _ in range(level.found(mark, order.limit)):
            ids.append(level.world.says(level.place, mark, len(context) + len(ids)))
            mark = after(mark, ids[-1])
        return Proposal(tuple(ids), (level.label,) * len(ids), Work(1, 0, 0))
