"""The profile that plans are sought in: the asked one, with its scales applied and only the levels that are allowed."""

from __future__ import annotations

from dataclasses import replace

from app.tabs.planner.profiles.plan_request import PlanQuestion
from hsd_core.grammar import stand_in
from hsd_core.theory.profiles.profile import Matrix, Profile, with_scaled_cost


def turned(asked: PlanQuestion) -> Profile:
    """What the sliders make of a profile.

    `rejections` multiplies every 1 - a; `cost` multiplies what one level takes, as a
    drafter and as a verifier, over layers of its own or shared ones.
    """
    profile = asked.profile
    if asked.rejections != 1.0:
        profile = _less_alike(profile, asked.rejections)
    if asked.cost is not None and asked.cost[1] != 1.0:
        profile = with_scaled_cost(profile, profile.index(asked.cost[0]), asked.cost[1])
    profile = replace(profile, max_block=asked.max_block)
    return profile if len(asked.allowed) == len(profile.levels) else profile.only(asked.allowed)


def kind_of(profile: Profile, index: int) -> str:
    """What kind of level it is, as the page colours it: by its spec, if it has one."""
    level, last = profile.levels[index], index == profile.target
    spec = "" if last else level.spec.split("@")[0].split(":")[0]
    return spec or stand_in(last=last, lookup=level.is_lookup).name


def _less_alike(profile: Profile, factor: float) -> Profile:
    def moved(a: float) -> float:
        return min(1.0, max(0.0, 1.0 - factor * (1.0 - a)))

    def matrix(rows: Matrix) -> Matrix:
        return tuple(tuple(moved(a) if i < j else a for j, a in enumerate(row)) for i, row in enumerate(rows))

    return replace(
        profile,
        acceptance=matrix(profile.acceptance),
        by_rule={rule: matrix(rows) for rule, rows in profile.by_rule.items()},
    )
