"""Monte Carlo of the recursion: plays rounds out with coins, as a check on the formulas. Shares none of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.latency.plans import StackPlan, check_plan
from hsd_core.theory.profiles.costs import Array, ProfileError
from hsd_core.theory.profiles.profile import Profile

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens of many rounds at once: how many, and the cost of them, (N,)."""

    lengths: Ints
    ms: Array


def simulate(profile: Profile, plan: StackPlan, rounds: int, seed: int) -> tuple[float, float]:
    """Mean ms per token over `rounds` rounds of the target, and its standard error.

    Raises:
        ProfileError: the plan does not fit the profile, or there are fewer than two rounds.
    """
    check_plan(profile, plan)
    if rounds < 2:
        raise ProfileError(f"{rounds} rounds have no standard error; simulate at least 2")
    play = _Play(profile, plan, np.random.default_rng(seed))
    out = play.round(len(plan.levels) - 1, rounds)
    ms, tokens = out.ms + profile.round_ms, out.lengths.astype(np.float64)
    per_token = float(ms.sum() / tokens.sum())
    spread = float(np.std(ms - per_token * tokens, ddof=1))  # of a ratio of means: the delta method
    return per_token, spread / (math.sqrt(rounds) * float(tokens.mean()))


@dataclass(frozen=True, slots=True)
class _Play:
    profile: Profile
    plan: StackPlan
    rng: np.random.Generator

    def round(self, place: int, count: int) -> _Tokens:
        """`count` verifications of the level at a place, each with all that leads to it."""
        bonus, below = True, _Tokens(np.zeros(count, dtype=np.int64), np.zeros(count))
        cost, chance = self.profile.levels[self.plan.levels[place]].cost, np.ones(1)
        if place:
            pair = self.plan.levels[place - 1], self.plan.levels[place]
            bonus, below, cost = (
                self.plan.bonus_of(place),
                self.block(place - 1, count),
                self.profile.verify_cost(*pair),
            )
            chance = np.array([self.profile.accepts(*pair, self.plan.rule_of(place))])
        n, longest = below.lengths, int(below.lengths.max())
        if place == 1 and self.plan.widths:
            chance = np.array([self.profile.by_width[pair][wide - 1] for wide in self.plan.widths])
        there = np.arange(longest) < n[:, None]
        passes = (self.rng.random((count, longest)) < chance) & there
        kept = np.cumprod(passes, axis=1).sum(axis=1, dtype=np.int64)
        adds = (kept < n) | bonus | (n == 0)
        rows = np.array([max(1, size + bonus) for size in range(longest + 1)])
        if place == 1 and self.plan.widths:
            rows[:] = 1 + sum(self.depths())
        if beside := self.profile.levels[self.plan.levels[place - 1]].beside if place else ():
            deep = [beside[min(m, len(beside) - 1)] for m in range(longest)]  # whole numbers: every offer has so many
            rows[:] = [1 + sum(deep[: size if bonus else max(0, size - 1)]) for size in range(longest + 1)]
        own_ms = cost.table(int(rows.max()))[rows]
        return _Tokens(kept + adds, below.ms + own_ms[n])

    def depths(self) -> list[int]:
        """Nodes of the tree at each depth."""
        nodes = [1]
        for wide in self.plan.widths:
            nodes.append(nodes[-1] * wide)
        return nodes[1:]

    def block(self, place: int, count: int) -> _Tokens:
        """`count` blocks of the level at a place."""
        level, length = self.profile.levels[self.plan.levels[place]], self.plan.blocks[place]
        if place == 0:
            ms = np.full(count, level.block_ms(length))
            if self.plan.widths:  # a forward over the context's end, then one over each depth but the last
                one = level.cost(1) if level.draft_ms is None else level.draft_ms
                ms[:] = one + sum(one + level.cost(nodes) - level.cost(1) for nodes in self.depths()[:-1])
            lengths = np.full(count, length, dtype=np.int64)
            if level.hit_rate is not None:
                reach = [level.reach[min(m, len(level.reach) - 1)] if level.reach else 1.0 for m in range(length)]
                hit = self.rng.random(count) < level.hit_rate
                lengths = hit * (self.rng.random(count)[:, None] < np.array(reach)).sum(axis=1)
            return _Tokens(lengths, ms)
        held, ms = np.zeros(count, dtype=np.int64), np.zeros(count)
        while len(short := np.flatnonzero(held < length)):
            new = self.round(place, len(short))
            held[short] += new.lengths
            ms[short] += new.ms
        return _Tokens(held, ms)
