"""A batch of requests played over a profile: which passes its runs share, and how long it takes.

`under_load` prices a pass as if all runs met in it, which holds of the target's. A level between needs 2 passes in one
run's round and 5 in another's, so that its last passes are of few runs. Here runs take their passes as those of
`hsd_core/batch` do: the cheapest level that waits is run, for all that wait for it. Rows are counted as the engine
counts them, what a cache lacks included. Acceptances and lookups are the profile's, drawn independently.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from hsd_core.theory.latency.plans import StackPlan, check_plan, full_blocks
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.profiles.profile import Profile, ProfileLevel

ROWS = 512  # of a joint pass


def joint_ms(level: ProfileLevel, costs: Costs, rows: float, runs: int) -> float:
    """ms of a pass of `rows` rows of `runs` texts together.

    Where joint passes were measured, the cost of a text's share of the rows is multiplied by what they are to one
    text's pass, on a line between the measured numbers of texts; else a pass costs by its rows.

    Args:
        costs: of a pass of one text.
    """
    if runs == 1 or not level.joint:
        return _ms(costs, rows)
    each, loads = rows / runs, sorted(level.joint)
    low = max(load for load in loads if load <= runs)
    high = min((load for load in loads if load >= runs), default=low)
    ms, more = _ms(level.joint[low], each), _ms(level.joint[high], each)
    joint = ms * runs / low if high == low else ms + (more - ms) * (runs - low) / (high - low)
    return _ms(costs, each) * joint / _ms(level.joint[1], each)


def _ms(costs: Costs, rows: float) -> float:
    """c(rows) for fractions too; beyond the measured rows as `Costs` continues."""
    low = int(rows)
    ms = costs(low)
    return ms if rows == low else ms + (costs(low + 1) - ms) * (rows - low)


@dataclass
class Played:
    """A batch that was played until its first text was over. passes: of each level of the plan (joint passes, their
    ms, rows and requests, each summed)."""

    tokens: int = 0
    ms: float = 0.0
    passes: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Own:
    """ms that a run needs for itself, while the others wait."""

    ms: float


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A pass of so many rows by the level at a place."""

    place: int
    rows: int


@dataclass(frozen=True, slots=True)
class _Committed:
    """Tokens that the target committed; over: they end the text."""

    tokens: int
    over: bool


_Steps = Generator[object, None, int]


def play_batch(profile: Profile, plan: StackPlan, texts: Sequence[int], seed: int = 0) -> Played:
    """A batch of texts of so many tokens, whose prompts have been read.

    Raises:
        ProfileError: the plan does not fit the profile.
    """
    check_plan(profile, plan)
    full_blocks(plan)
    chance = Random(seed)
    levels = [profile.levels[i] for i in plan.levels]
    costs = [levels[0].cost, *(profile.verify_cost(*pair) for pair in pairwise(plan.levels))]
    found = Played(passes=[[0, 0.0, 0, 0] for _ in levels])
    runs = [_Run(profile, plan, chance).steps(tokens) for tokens in texts]
    waiting: dict[int, _Wanted] = {}
    group, over = list(range(len(runs))), False
    while True:
        for i in group:
            for step in runs[i]:
                if isinstance(step, _Wanted):
                    waiting[i] = step
                    break
                if isinstance(step, _Own):
                    found.ms += step.ms
                elif isinstance(step, _Committed):
                    found.tokens += step.tokens
                    over |= step.over
        if over:
            return found
        place = min(step.place for step in waiting.values())
        group, rows = [], 0
        for i, step in sorted(waiting.items()):
            if step.place == place and (not group or rows + step.rows <= ROWS):
                group.append(i)
                rows += step.rows
        ms = joint_ms(levels[place], costs[place], rows, len(group))
        if not place and levels[0].draft_ms is not None and plan.blocks:
            ms *= levels[0].draft_ms / levels[0].cost(1)
        found.ms += ms
        for at, more in enumerate((1, ms, rows, len(group))):
            found.passes[place][at] += more
        for i in group:
            del waiting[i]


class _Run:
    """The passes of one run, in order; `cached`: the tokens that each level of the plan has processed."""

    def __init__(self, profile: Profile, plan: StackPlan, chance: Random) -> None:
        self._profile, self._plan, self._chance = profile, plan, chance
        self._bottom = profile.levels[plan.levels[0]]
        self._top = len(plan.levels) - 1
        self._accepts = [
            profile.accepts(below, level, plan.rule_of(place))
            for place, (below, level) in enumerate(pairwise(plan.levels), 1)
        ]
        self._cached = [0] * len(plan.levels)

    def steps(self, tokens: int) -> _Steps:
        """What it wants, until it has so many tokens after a prompt of one."""
        length = 1
        while length < 1 + tokens:
            added = yield from self._verify(self._top, length, 1 + tokens - length)
            length += added
            yield _Own(self._profile.round_ms)
            yield _Committed(added, length >= 1 + tokens)
        return length

    def _drafts_only(self, place: int) -> bool:
        return not place and self._bottom.drafts_only and self._top > 0

    def _pull(self, place: int, length: int, budget: int) -> _Steps:
        block = min(self._plan.blocks[place], budget)
        if place:
            held = 0
            while held < block:
                held += yield from self._verify(place, length + held, budget - held)
            return held
        if not self._drafts_only(0):
            for at in range(block):
                yield _Wanted(0, length + at - self._cached[0])
                self._cached[0] = length + at
            return block
        if not self._bottom.is_lookup:
            yield _Own(self._bottom.block_ms(block))
            return block
        yield _Own(self._bottom.cost(block))
        if self._chance.random() >= (self._bottom.hit_rate or 0.0):
            return 0
        coin, reach = self._chance.random(), self._bottom.reach or (1.0,)
        return sum(coin < reach[min(m, len(reach) - 1)] for m in range(block))

    def _verify(self, place: int, length: int, budget: int) -> _Steps:
        """The tokens that the level at a place adds."""
        bonus = place == 0 or self._plan.bonus_of(place)
        n = 0
        if place and (room := budget - bonus) > 0:
            n = yield from self._pull(place - 1, length, room)
        judged = n if bonus else max(0, n - 1)
        yield _Wanted(place, length + judged - self._cached[place])
        self._cached[place] = length + judged
        kept = 0
        while kept < n and self._chance.random() < self._accepts[place - 1]:
            kept += 1
        for i in range(place + 1):
            self._cached[i] = min(self._cached[i], length + kept)
        return kept + (kept < n or bonus or not n)
