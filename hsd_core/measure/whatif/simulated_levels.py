"""Levels without weights: they say what the world says, and a call takes the profile's milliseconds on its clock.

Rows are one-hot: a level of a world of words has no distribution, so these runs are greedy. A call costs what the
profile gives for the rows that decide something; rows that only bring a cache up to date, and a short prompt, go
through at no extra price, as the theory reckons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.core.level import CommittedIds, DraftOrder, Forks, LevelAbout, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.measure.whatif.world import Marks, World, after
from hsd_core.models.context import Context
from hsd_core.theory.profiles.costs import Costs

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.shared import SharedState

PLACE = "simulated"  # stands where a real level names its device
_HIT, _REACH, _BESIDE, _OTHERS = 1, 2, 3, 4  # further coins of a level that only drafts


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

    can_verify = has_cache = True

    world: World
    ticker: Ticker
    place: int
    cost: Costs
    name: str
    about: LevelAbout
    vocab_size: int
    round_ms: float = 0.0
    max_positions: int | None = None

    def open(self, capacity: int, shared: SharedState) -> SyntheticRun:
        return SyntheticRun(self)


class SyntheticRun:
    def __init__(self, level: SyntheticLevel) -> None:
        self._level = level
        self._marks = Marks(level.world.root)
        self._prompted = False
        self.cached = 0

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft_token_by_token(self, context, order, self._level.name)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        import torch

        level, rows, end = self._level, len(tree) + 1, len(context)
        computed, self.cached = end + len(tree) - self.cached, end + len(tree)
        assert computed >= rows, f"{level.name}: {rows} rows asked for, {computed} tokens are new"
        level.ticker.spend(level.cost(rows))
        behind = [(self._marks.of(context)[end], end)]  # mark and length of the prefix that each row stands behind
        for id_, parent in zip(tree.ids, tree.lineage, strict=True):
            mark, length = behind[parent + 1]
            behind.append((after(mark, id_), length + 1))
        words = torch.tensor([level.world.says(level.place, *prefix) for prefix in behind])
        logits = torch.full((rows, level.vocab_size), float("-inf"))
        return logits.scatter_(1, words.unsqueeze(1), 0.0), Work(1, computed, computed - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self.cached = min(self.cached, start + len(path))

    def observe(self, outcome: Outcome) -> None:
        if isinstance(outcome, CommittedIds):
            if self._prompted and self._level.round_ms:
                self._level.ticker.spend(self._level.round_ms)
            self._prompted = True

    def close(self) -> None:
        """Nothing is held outside this object."""


@dataclass(eq=False)
class SyntheticOffer(SyntheticLevel):
    """A level that only drafts: a lookup, or one that offers several candidates side by side.

    `hit_rate`, `reach` and `beside` are as in a profile: a lookup is asked once a block, another level once a token. Of
    several tokens at a depth the first is right as often as the profile says, and the others never are: so often one
    of them is accepted.
    """

    can_verify = has_cache = False

    hit_rate: float | None = None
    reach: tuple[float, ...] = ()
    beside: tuple[float, ...] = ()

    def open(self, capacity: int, shared: SharedState) -> SyntheticOfferRun:
        return SyntheticOfferRun(self)

    def found(self, mark: int, limit: int) -> int:
        """How many tokens deep the offer after a prefix is, of at most `limit`."""
        if self.hit_rate is None:
            return limit
        if self.world.coin(mark, self.place, _HIT) >= self.hit_rate:
            return 0
        coin = self.world.coin(mark, self.place, _REACH)
        chances = (self.reach[min(m, len(self.reach) - 1)] if self.reach else 1.0 for m in range(limit))
        return sum(coin < chance for chance in chances)

    def others(self, mark: int, length: int, depth: int) -> list[int]:
        """The words beside the first one, `depth` tokens into an offer, behind a prefix of `length` ids."""
        mean = self.beside[min(depth, len(self.beside) - 1)] if self.beside else 1.0
        more = int(mean - 1.0 + self.world.coin(mark, self.place, _BESIDE)) if mean > 1.0 else 0
        said = {self.world.says(place, mark, length) for place in (self.place, self.place + 1)}
        return self.world.others(said, self.world.coin(mark, self.place, _OTHERS), more)


class SyntheticOfferRun(SyntheticRun):
    """It holds nothing of the context and learns nothing: how often it hits stands in the profile."""

    _level: SyntheticOffer

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        level, mark = self._level, self._marks.of(context)[len(context)]
        deep = level.found(mark, order.limit)
        calls = deep if level.hit_rate is None else 1
        for _ in range(calls):
            level.ticker.spend(level.cost(1 if level.hit_rate is None else order.limit))
        ids: list[int] = []
        beside: list[tuple[int, int]] = []  # words and their parents
        for depth in range(deep):
            length = len(context) + depth
            beside += [(word, depth - 1) for word in level.others(mark, length, depth)]
            ids.append(level.world.says(level.place, mark, length))
            mark = after(mark, ids[-1])
        parents = (*range(-1, deep - 1), *(parent for _, parent in beside)) if beside else None
        ids += [word for word, _ in beside]
        return Proposal(tuple(ids), (level.name,) * len(ids), Work(calls, 0, 0), forks=Forks(parents))
