"""A profile of one of several runs in a batch: what a joint pass costs, shared equally.

A pass costs by all its rows, whoever they are of: with B runs at once the c(n) ms of a run's n rows become c(n B) / B.
So rows that are almost free for one run have their full price where many fill the pass, and a level stops paying. What
a run does for itself, lookups and the engine's time of a round, is not shared.

Where joint passes of n rows of each of B texts were measured, a cost is multiplied by what a text's share of them is of
a pass of its own, which holds on a machine of another speed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from hsd_core.theory.profiles.costs import MOST_ROWS, Costs, ProfileError
from hsd_core.theory.profiles.profile import Profile, ProfileLevel

LONGEST = 64  # rows of one run; beyond them a cost continues on a line


JointCosts: TypeAlias = Mapping[str, Mapping[int, Costs]]  # spec of a level -> its `joint`


def with_joint(profile: Profile, measured: JointCosts) -> Profile:
    """The profile with these joint passes of its levels; other levels keep theirs."""
    levels = (replace(level, joint=measured.get(level.spec, level.joint)) for level in profile.levels)
    return replace(profile, levels=tuple(levels))


def under_load(profile: Profile, runs: int) -> Profile:
    """The profile of each of `runs` runs at once; its ms per token are those of the whole batch.

    Raises:
        ProfileError: fewer than 1, or more rows than a cost has.
    """
    if not 1 <= runs <= MOST_ROWS:
        raise ProfileError(f"{runs} requests at once; use 1 to {MOST_ROWS}")

    def shared(costs: Costs, level: ProfileLevel) -> Costs:
        if joint := level.joint.get(runs):
            alone, rows = level.joint[1], tuple(sorted({*costs.rows, *joint.rows}))
            return Costs(rows, tuple(costs(n) * joint(n) / alone(n) / runs for n in rows))
        rows = tuple(range(1, min(LONGEST, MOST_ROWS // runs) + 1))
        return Costs(rows, tuple(costs(n * runs) / runs for n in rows))

    def of(level: ProfileLevel) -> ProfileLevel:
        if level.is_lookup:
            return level
        cost = shared(level.cost, level)
        return replace(level, cost=cost, draft_ms=level.draft_ms and level.draft_ms * cost(1) / level.cost(1))

    if runs == 1:
        return profile
    edges = {pair: shared(costs, profile.levels[pair[1]]) for pair, costs in profile.edge_cost.items()}
    return replace(profile, levels=tuple(map(of, profile.levels)), edge_cost=edges)
