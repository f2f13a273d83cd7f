"""A profile of one of several runs in a batch: what a joint pass costs, shared equally.

A pass costs by all its rows, whoever they are of: with B runs at once the c(n) ms of a run's n rows become c(n B) / B.
So rows that are almost free for one run have their full price where many fill the pass, and a level stops paying. What
a run does for itself, lookups and the engine's time of a round, is not shared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from hsd_core.theory.profiles.costs import MOST_ROWS, Costs
from hsd_core.theory.profiles.profile import Profile, ProfileLevel

LONGEST = 64  # rows of one run; beyond them a cost continues on a line


JointCosts: TypeAlias = "dict[str, dict[int, dict[int, float]]]"  # see `measure.calibrate.joint_costs`


def under_load(profile: Profile, runs: int, measured: JointCosts | None = None) -> Profile:
    """The profile of each of `runs` runs at once; its ms per token are those of the whole batch.

    measured: joint passes. The costs of a level that they have are multiplied by what a text's share of its joint pass
    is of a pass of its own, which holds on a machine of another speed too.

    Raises:
        ProfileError: fewer than 1, or more rows than a cost has.
    """

    def shared(costs: Costs, level: ProfileLevel) -> Costs:
        joint = (measured or {}).get(level.spec, {})
        if runs in joint:
            part = {n: ms / joint[1][n] / runs for n, ms in joint[runs].items()}
            return Costs(tuple(part), tuple(costs(n) * share for n, share in part.items()))
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
