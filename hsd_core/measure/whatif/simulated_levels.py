"""Simulated levels without weights: their tokens come from `World`, and a call takes the profile's ms on its clock.

Rows are one-hot, so these runs are greedy. A call costs what the profile gives for the rows that are judged; rows that
only bring a cache up to date, and a short prompt, are free, as in the theory.

`World` gives every level's token after every prefix as a function of the seed. The target says a fixed passage, one
word per token. A level below agrees with the next one up in the plan with the probability a of that pair, else it says
another word; the coin depends on the whole prefix, as a greedy model's choice does. So each pair in the plan agrees
exactly as often as the profile says, independently from token to token: the i.i.d. world of Globerson et al. 2025
(arXiv 2510.19705). Other pairs are never compared by the engine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from hsd_core.core.level import CommittedIds, DraftOrder, Forks, LevelAbout, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.models.context import Context
from hsd_core.theory.profiles.costs import Costs

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.shared import SharedState

PROMPT = "What does a tower of models do while it writes?"
_PASSAGE = (
    "No model wrote these words. They were laid down beforehand, so that a tower which nobody could build has "
    "something to say. Each level either says the next word as the level above it would, or says another one, and"
    " a coin decides which; how the coin is weighted stands in the table of acceptances, where anyone may change "
    "it. The lowest level goes first, because it is quick. It offers a few words, one after another, and hands "
    "them up the stairs. The level above reads them all in one pass. It keeps those that it would have said "
    "itself, strikes out the first that it would not, and puts its own word there. What lay behind that word is "
    "lost, however good it was. When enough words are gathered, they go up once more, to a reader who is larger "
    "and slower and harder to please. On the roof stands the target. Whatever it signs is written down for good, "
    "and nothing else ever is. So the text comes out the same from every tower; only the hours differ. Watch "
    "where they go. If the lower levels are often right, the roof signs many words at a time and seldom has to "
    "look. If they are often wrong, the roof is kept waiting for drafts that it throws away, and it would be "
    "better off alone. A floor in between earns its keep when it costs little and catches much: it stops bad "
    "words early, before they trouble the roof. Take it out and see. Make it dearer, make it wiser, give it "
    "longer blocks, and count again. The clock beside this text is reckoned, not measured, but the rule by which "
    "it runs is the one that real towers obey."
)


class Words:
    """The passage and its prompt as ids, for the recorder and the levels. A word includes the space before it."""

    def __init__(self) -> None:
        said, asked = _split(f" {_PASSAGE}"), _split(PROMPT)
        pieces = list(dict.fromkeys(said))
        self.spoken = len(pieces)  # smaller ids may be output; the others are in the prompt only
        pieces += [piece for piece in dict.fromkeys(asked) if piece not in pieces]
        self._pieces = pieces
        ids = {piece: i for i, piece in enumerate(pieces)}
        self.passage = tuple(ids[piece] for piece in said)
        self.prompt = tuple(ids[piece] for piece in asked)
        self.vocab_size = len(pieces)

    def piece(self, id_: int) -> bytes:
        return self._pieces[id_].encode()

    def is_special(self, id_: int) -> bool:
        return False


def _split(text: str) -> list[str]:
    return re.findall(r"\s*\S+", text)


_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15  # 2^64 / golden ratio


class World:
    """The choices of the levels of one plan.

    Args:
        passage: the target's ids, repeated from the start. spoken: all ids below it may be output.
        agrees[place]: the probability that the level at a place of the plan agrees with the one above it, for each
            level below the target. salts: distinguish the levels' coins, the same for a level in every plan.
    """

    def __init__(
        self, passage: Sequence[int], spoken: int, agrees: Sequence[float], salts: Sequence[int], prompt: int, seed: int
    ) -> None:
        self._passage, self._spoken, self._prompt = passage, spoken, prompt
        self._agrees, self._salts = agrees, salts
        self.root = _mix(seed & _MASK)

    def says(self, place: int, mark: int, length: int) -> int:
        """The word of the level at a place after a prefix of `length` ids with this mark."""
        word = self._passage[max(0, length - self._prompt) % len(self._passage)]
        for below in range(len(self._agrees) - 1, place - 1, -1):
            if self.coin(mark, below) >= self._agrees[below]:
                other = _mix(mark ^ _mix(2 * self._salts[below] + 2)) % (self._spoken - 1)
                word = (word + 1 + other) % self._spoken
        return word

    def others(self, said: Collection[int], coin: float, count: int) -> list[int]:
        """Up to `count` words that are not in `said`."""
        first = int(coin * self._spoken)
        rest = ((first + step) % self._spoken for step in range(self._spoken))
        return list(islice((word for word in rest if word not in said), count))

    def coin(self, mark: int, place: int, use: int = 0) -> float:
        """A uniform number in [0, 1) for the level at a place after a prefix; each use has its own."""
        return (_mix(mark ^ _mix(2 * self._salts[place] + 1 + (use << 32))) >> 11) / (1 << 53)


class Marks:
    """A hash of every prefix of a context, reused between calls for the common prefix."""

    def __init__(self, root: int) -> None:
        self._ids: list[int] = []
        self._marks = [root]

    def of(self, context: Sequence[int]) -> list[int]:
        """The marks of the first 0, 1, ..., len(context) ids; read-only."""
        known = min(len(self._ids), len(context))
        if self._ids[:known] != list(context[:known]):
            known = next(i for i in range(known) if self._ids[i] != context[i])
        del self._ids[known:], self._marks[known + 1 :]
        for id_ in context[known:]:
            self._ids.append(id_)
            self._marks.append(after(self._marks[-1], id_))
        return self._marks


def after(mark: int, id_: int) -> int:
    """The mark of a prefix with one more id."""
    return _mix((mark + (id_ + 1) * _STEP) & _MASK)


def _mix(x: int) -> int:
    """The finalizer of SplitMix64 (Steele et al. 2014): every bit of the result depends on every bit of x."""
    x = (x + _STEP) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


PLACE = "simulated"  # in place of a real level's device
_HIT, _REACH, _BESIDE, _OTHERS = 1, 2, 3, 4  # further coins of a level that only drafts


class Ticker:
    """A simulated clock in ns, which advances only when a level spends time. One object serves one run."""

    def __init__(self) -> None:
        self.ns = self.calls = 0

    def now(self) -> int:
        return self.ns

    def spend(self, ms: float) -> None:
        self.ns += round(ms * 1e6)
        self.calls += 1


@dataclass(eq=False)
class SyntheticLevel:
    """A level at a place of a plan.

    Args:
        cost: ms of a call by judged rows; of a bottom drafter: of each token. round_ms: of the target, the engine's own
            time after a round.
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
        behind = [(self._marks.of(context)[end], end)]  # mark and length of the prefix of each row
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
        """Nothing to do."""


@dataclass(eq=False)
class SyntheticOffer(SyntheticLevel):
    """A level that only drafts: a lookup, or one that offers several candidates.

    hit_rate, reach and beside are as in a profile: a lookup is called once a block, another level once a token. Of
    several tokens at a depth the first is right as often as the profile says that one of them is, the others never.
    """

    can_verify = has_cache = False

    hit_rate: float | None = None
    reach: tuple[float, ...] = ()
    beside: tuple[float, ...] = ()

    def open(self, capacity: int, shared: SharedState) -> SyntheticOfferRun:
        return SyntheticOfferRun(self)

    def found(self, mark: int, limit: int) -> int:
        """The depth of the offer after a prefix, at most `limit`."""
        if self.hit_rate is None:
            return limit
        if self.world.coin(mark, self.place, _HIT) >= self.hit_rate:
            return 0
        coin = self.world.coin(mark, self.place, _REACH)
        chances = (self.reach[min(m, len(self.reach) - 1)] if self.reach else 1.0 for m in range(limit))
        return sum(coin < chance for chance in chances)

    def others(self, mark: int, length: int, depth: int) -> list[int]:
        """The further words at depth `depth` of an offer, behind a prefix of `length` ids."""
        mean = self.beside[min(depth, len(self.beside) - 1)] if self.beside else 1.0
        more = int(mean - 1.0 + self.world.coin(mark, self.place, _BESIDE)) if mean > 1.0 else 0
        said = {self.world.says(place, mark, length) for place in (self.place, self.place + 1)}
        return self.world.others(said, self.world.coin(mark, self.place, _OTHERS), more)


class SyntheticOfferRun(SyntheticRun):
    """Its state does not depend on the context: the hit rate is the profile's."""

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
