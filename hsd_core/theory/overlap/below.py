"""The blocks of whatever drafts for the target, a level or a whole stack: how many tokens, and after how many ms.

Latency one after another needs the means alone (`latency.recursion`). Two lanes wait for each other, so how the time of
a block varies counts, and how that goes with its tokens. Both follow from the same recursion over limits: no level
hands up more than it was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hsd_core.theory.latency.blocks import lookup_lengths
from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.profile import Profile

_RARE = 1e-7  # chances below it are left out
_STEADY = 1e-6  # a spread below this share of the mean is none


class Drafted(NamedTuple):
    """One way in which a block may come: with this chance, so many tokens after so many ms."""

    chance: float
    tokens: int
    ms: float


class _Moments(NamedTuple):
    """Of the blocks with some number of tokens: their chance, and it times the mean of ms and of its square."""

    chance: float = 0.0
    ms: float = 0.0
    square: float = 0.0

    def and_(self, other: _Moments) -> _Moments:
        return _Moments(*(a + b for a, b in zip(self, other, strict=True)))

    def then(self, other: _Moments) -> _Moments:
        """What follows takes its own time."""
        return _Moments(
            self.chance * other.chance,
            self.ms * other.chance + self.chance * other.ms,
            self.square * other.chance + 2.0 * self.ms * other.ms + self.chance * other.square,
        )


class _Requests(NamedTuple):
    """Expected sums over the requests of a block: their ms, and its squares."""

    ms: float = 0.0
    square: float = 0.0

    def and_(self, other: _Requests, times: float = 1.0) -> _Requests:
        return _Requests(self.ms + times * other.ms, self.square + times * other.square)


_Blocks = tuple[Mapping[int, _Moments], _Requests]  # by tokens, and what they are made of


@dataclass(slots=True)
class Below:
    """What stands below the target in a plan, asked for blocks of at most so many tokens."""

    profile: Profile
    plan: StackPlan
    _most: list[int] = field(
        init=False
    )  # tokens that the level at a place hands up at most, however many are asked for
    _pulls: dict[tuple[int, int], _Blocks] = field(default_factory=dict)
    _checks: dict[tuple[int, int], _Blocks] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._most = []
        for block in self.plan.blocks:
            self._most.append(block + self._most[-1] if self._most else block)

    @property
    def top(self) -> int:
        """The place of the level that hands up."""
        return len(self.plan.levels) - 2

    def blocks(self, limit: int) -> tuple[Drafted, ...]:
        """Every way in which a block of at most `limit` tokens comes: two for each number of tokens whose time varies,
        as far from its mean as it varies."""
        found = []
        for tokens, (chance, ms, square) in self._pulled(self.top, limit)[0].items():
            mean = ms / chance
            spread = math.sqrt(max(0.0, square / chance - mean * mean))
            if spread <= _STEADY * mean:
                found.append(Drafted(chance, tokens, mean))
            else:
                spread = min(spread, mean)
                found += [Drafted(chance / 2, tokens, mean + side * spread) for side in (-1.0, 1.0)]
        return tuple(found)

    def means(self, limit: int) -> tuple[float, float]:
        """Tokens and ms of a block, in the mean."""
        found = self._pulled(self.top, limit)[0]
        return sum(n * one.chance for n, one in found.items()), sum(one.ms for one in found.values())

    def waits_for_one(self, limit: int) -> float:
        """ms until the request ends that runs at any moment of a block: what is dropped is first run to that end."""
        ms, square = self._pulled(self.top, limit)[1]
        return square / (2.0 * ms) if ms else 0.0

    def _pulled(self, place: int, limit: int) -> _Blocks:
        """HSD(place): the blocks that the level there hands up."""
        limit = min(limit, self._most[place])
        if (place, limit) not in self._pulls:
            self._pulls[place, limit] = self._collected(place, limit) if place else self._bottom(limit)
        return self._pulls[place, limit]

    def _bottom(self, limit: int) -> _Blocks:
        level = self.profile.levels[self.plan.levels[0]]
        ms = level.block_ms(limit)
        chances = [0.0] * limit + [1.0]
        if level.hit_rate is not None:
            chances = lookup_lengths(level.hit_rate, level.reach, limit).tolist()
        found = {n: _Moments(p, p * ms, p * ms * ms) for n, p in enumerate(chances) if p > _RARE}
        return found, _Requests(ms, ms * ms)

    def _collected(self, place: int, limit: int) -> _Blocks:
        """Verifications until T tokens are held, or as many as were asked for."""
        wanted = min(self.plan.blocks[place], limit)
        held: dict[int, _Moments] = {0: _Moments(1.0)}
        made = _Requests()
        for n in range(wanted):
            if n not in held:
                continue
            begun = held.pop(n)
            added, requests = self._checked(place, limit - n)
            made = made.and_(requests, begun.chance)
            for tokens, one in added.items():
                if begun.chance * one.chance > _RARE:
                    held[n + tokens] = held.get(n + tokens, _Moments()).and_(begun.then(one))
        return held, made

    def _checked(self, place: int, limit: int) -> _Blocks:
        limit = min(limit, self._most[place - 1] + 1)
        if (place, limit) not in self._checks:
            self._checks[place, limit] = self._verified(place, limit)
        return self._checks[place, limit]

    def _verified(self, place: int, limit: int) -> _Blocks:
        """One verification by the level at a place: what it adds."""
        plan, bonus = self.plan, self.plan.bonus_of(place)
        below, level = plan.levels[place - 1], plan.levels[place]
        costs, a = self.profile.verify_cost(below, level), self.profile.accepts(below, level, plan.rule_of(place))
        none: _Blocks = ({0: _Moments(1.0)}, _Requests())
        drafted, made = self._pulled(place - 1, limit - bonus) if limit > bonus else none
        out: dict[int, _Moments] = {}
        for n, block in drafted.items():
            ms = costs(n + 1 if bonus else max(1, n))
            made = made.and_(_Requests(ms, ms * ms), block.chance)
            fates = {m + 1: a**m * (1.0 - a) for m in range(n)}
            whole = n + 1 if bonus else max(1, n)
            fates[whole] = fates.get(whole, 0.0) + a**n
            for tokens, chance in fates.items():
                both = block.then(_Moments(chance, chance * ms, chance * ms * ms))
                out[tokens] = out.get(tokens, _Moments()).and_(both)
        return out, made
