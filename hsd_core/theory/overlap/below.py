"""The blocks drafted for the target by one level or several: the distribution of their tokens and ms.

Sequential latency needs only means (`latency.recursion`). Two lanes wait for each other, so the variance of a block's
time matters, and its correlation with the tokens. Both follow from the same recursion over limits: no level hands up
more than it was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hsd_core.theory.latency.blocks import lookup_lengths
from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.profile import Profile

_RARE = 1e-7  # smaller probabilities are ignored
_STEADY = 1e-6  # a smaller spread, relative to the mean, counts as none


class Drafted(NamedTuple):
    """One outcome of a block: its probability, tokens and ms."""

    chance: float
    tokens: int
    ms: float


class _Moments(NamedTuple):
    """Of the blocks with some number of tokens: their probability, and it times the means of ms and of ms squared."""

    chance: float = 0.0
    ms: float = 0.0
    square: float = 0.0

    def and_(self, other: _Moments) -> _Moments:
        return _Moments(*(a + b for a, b in zip(self, other, strict=True)))

    def then(self, other: _Moments) -> _Moments:
        """The moments of one event followed by an independent other."""
        return _Moments(
            self.chance * other.chance,
            self.ms * other.chance + self.chance * other.ms,
            self.square * other.chance + 2.0 * self.ms * other.ms + self.chance * other.square,
        )


class _Requests(NamedTuple):
    """Expected sums over the requests of a block: their ms, and the squares."""

    ms: float = 0.0
    square: float = 0.0

    def and_(self, other: _Requests, times: float = 1.0) -> _Requests:
        return _Requests(self.ms + times * other.ms, self.square + times * other.square)


_Blocks = tuple[Mapping[int, _Moments], _Requests]  # by tokens, and their requests


@dataclass(slots=True)
class Below:
    """The levels below the target in a plan, and their blocks under a limit of tokens."""

    profile: Profile
    plan: StackPlan
    _most: list[int] = field(init=False)  # most tokens that the level at each place hands up
    _pulls: dict[tuple[int, int], _Blocks] = field(default_factory=dict)
    _checks: dict[tuple[int, int], _Blocks] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._most = []
        for block in self.plan.blocks:
            self._most.append(block + self._most[-1] if self._most else block)

    @property
    def top(self) -> int:
        """The place of the level below the target."""
        return len(self.plan.levels) - 2

    def blocks(self, limit: int) -> tuple[Drafted, ...]:
        """The outcomes of a block of at most `limit` tokens: one for each number of tokens, or two at a standard
        deviation from the mean time if it varies."""
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
        """Mean tokens and ms of a block."""
        found = self._pulled(self.top, limit)[0]
        return sum(n * one.chance for n, one in found.items()), sum(one.ms for one in found.values())

    def waits_for_one(self, limit: int) -> float:
        """Mean ms until the running request of a block ends, at a random moment: a dropped block runs until then."""
        ms, square = self._pulled(self.top, limit)[1]
        return square / (2.0 * ms) if ms else 0.0

    def _pulled(self, place: int, limit: int) -> _Blocks:
        """HSD(place): the blocks handed up by the level there."""
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
        """Verifications until T tokens, or as many as were asked for, are collected."""
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
        """One verification by the level at a place: the tokens that it adds."""
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
            full = n + 1 if bonus else max(1, n)
            fates[full] = fates.get(full, 0.0) + a**n
            for tokens, chance in fates.items():
                both = block.then(_Moments(chance, chance * ms, chance * ms * ms))
                out[tokens] = out.get(tokens, _Moments()).and_(both)
        return out, made
