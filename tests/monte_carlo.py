"""Monte Carlo of the recursion: plays rounds out with coins, as a check on the formulas. Shares none of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.latency.accepts import ACCEPTED, BONUS, RESIDUAL, Accepts, Model, accepts
from hsd_core.theory.latency.plans import Plan, check_plan
from hsd_core.theory.profiles.costs import Array, ProfileError
from hsd_core.theory.profiles.profile import Profile

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens of many rounds at once. `marks`: how each came to be, 0 behind the end: (N, L). `ms`: their cost: (N,)."""

    marks: Ints
    lengths: Ints
    ms: Array


def simulate(profile: Profile, plan: Plan, rounds: int, seed: int, model: Model = "iid") -> tuple[float, float]:
    """Mean ms per token over `rounds` rounds of the target, and its standard error.

    Raises:
        ProfileError: the plan does not fit the profile, or there are fewer than two rounds.
    """
    check_plan(profile, plan)
    if rounds < 2:
        raise ProfileError(f"{rounds} rounds have no standard error; simulate at least 2")
    play = _Play(profile, plan, model, np.random.default_rng(seed))
    out = play.round(len(plan.levels) - 1, rounds)
    ms, tokens = out.ms + profile.round_ms, out.lengths.astype(np.float64)
    per_token = float(ms.sum() / tokens.sum())
    spread = float(np.std(ms - per_token * tokens, ddof=1))  # of a ratio of means: the delta method
    return per_token, spread / (math.sqrt(rounds) * float(tokens.mean()))


@dataclass(frozen=True, slots=True)
class _Play:
    profile: Profile
    plan: Plan
    model: Model
    rng: np.random.Generator

    def round(self, place: int, count: int) -> _Tokens:
        """`count` verifications of the level at a place, each with all that leads to it."""
        bonus, below, given = True, _nothing(count), Accepts((1.0, 1.0, 1.0), (1.0,))
        cost = self.profile.levels[self.plan.levels[place]].cost
        if place:
            pair = self.plan.levels[place - 1], self.plan.levels[place]
            bonus, below, cost = (
                self.plan.bonus_of(place),
                self.block(place - 1, count),
                self.profile.verify_cost(*pair),
            )
            given = accepts(self.profile, *pair, rule=self.plan.rule_of(place), model=self.model)
        n, longest = below.lengths, below.marks.shape[1]
        chance = given.drafted(longest) if place == 1 else np.array(given.by_mark)[below.marks]
        if place == 1 and self.plan.widths:
            by_width = self.profile.conditional[pair].by_width
            chance = np.array([by_width[wide - 1] for wide in self.plan.widths])
        there = np.arange(longest) < n[:, None]
        passes = (self.rng.random((count, longest)) < chance) & there
        kept = np.cumprod(passes, axis=1).sum(axis=1, dtype=np.int64)
        adds = (kept < n) | bonus | (n == 0)
        marks = np.full((count, longest + 1), ACCEPTED, dtype=np.int64)
        own = np.where(kept < n, RESIDUAL, BONUS)
        marks[np.flatnonzero(adds), kept[adds]] = own[adds]
        rows = np.array([max(1, size + bonus) for size in range(longest + 1)])
        if place == 1 and self.plan.widths:
            rows[:] = 1 + sum(self.depths())
        if beside := self.profile.levels[self.plan.levels[place - 1]].beside if place else ():
            deep = [beside[min(m, len(beside) - 1)] for m in range(longest)]  # whole numbers: every offer has so many
            rows[:] = [1 + sum(deep[: size if bonus else max(0, size - 1)]) for size in range(longest + 1)]
        own_ms = cost.table(int(rows.max()))[rows]
        return _Tokens(marks, kept + adds, below.ms + own_ms[n])

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
            return _Tokens(np.zeros((count, length), dtype=np.int64), lengths, ms)
        held = np.zeros(count, dtype=np.int64)
        marks, ms = np.zeros((count, length), dtype=np.int64), np.zeros(count)
        while len(short := np.flatnonzero(held < length)):
            new = self.round(place, len(short))
            widest = int(held.max()) + new.marks.shape[1]
            if widest > marks.shape[1]:
                marks = np.pad(marks, ((0, 0), (0, widest - marks.shape[1])))
            row, column = np.nonzero(np.arange(new.marks.shape[1]) < new.lengths[:, None])
            marks[short[row], held[short[row]] + column] = new.marks[row, column]
            held[short] += new.lengths
            ms[short] += new.ms
        return _Tokens(marks[:, : int(held.max())], held, ms)


def _nothing(count: int) -> _Tokens:
    return _Tokens(np.zeros((count, 0), dtype=np.int64), np.zeros(count, dtype=np.int64), np.zeros(count))
