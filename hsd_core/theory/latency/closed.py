"""The closed form of a hierarchy's expected latency, which leaves the overshoot of blocks out.

    LAT = (c_K + sum over 0 < i < K of c_i prod_{i <= j < K} T_j / tau_j + T_0 c_0 prod_{0 < j < K} T_j / tau_j) / tau_K

with tau_j = 1 + a + ... + a^T_{j-1}, the tokens of a verification by j. The exact recursion is in `recursion`.
"""

from __future__ import annotations

import numpy as np

from hsd_core.theory.latency.accepts import accepts, lookup_lengths, rows_of
from hsd_core.theory.latency.plans import StackPlan, check_plan
from hsd_core.theory.profiles.profile import Profile


def closed_form(profile: Profile, plan: StackPlan) -> float:
    """ms per token with B_i = T_i and E[R_i] = max(1, T_i / tau_i).

    Exact for two levels. On the shipped profiles it is -12 to +3 % off the exact recursion for three levels whose block
    lengths rise, and between -30 and +422 % where a level hands up fewer tokens than it is given: a comparison for the
    lesson, never a prediction.

    Raises:
        ProfileError: the plan does not fit the profile.
    """
    check_plan(profile, plan)
    if not plan.blocks:
        return profile.plain_ms
    bottom = profile.levels[plan.levels[0]]
    ms, tau = bottom.tree_ms(plan.widths) if plan.widths else bottom.block_ms(plan.blocks[0]), 1.0
    for place in range(1, len(plan.levels)):
        below, level, length = plan.levels[place - 1], plan.levels[place], plan.blocks[place - 1]
        dist = np.eye(length + 1)[length]
        if place == 1 and bottom.hit_rate is not None:
            dist = lookup_lengths(bottom.hit_rate, bottom.reach, length)
        if place > 1:
            ms *= max(1.0, length / tau)
        bonus = plan.bonus_of(place)
        rows = rows_of(profile.levels[below], length, bonus)
        ms += float(dist @ profile.verify_cost(below, level).at(rows))
        a = profile.accepts(below, level, plan.rule_of(place))
        # tau(a, n) = 1 + a + ... + a^n, one term less without the bonus: finite at a = 1.
        tau = sum(float(dist[n]) * sum(a**m for m in range(n + 1 if bonus else max(1, n))) for n in range(length + 1))
        if place == 1 and plan.widths:  # every token of a tree has a row; a fork is kept where one of its tokens is
            ms += profile.verify_cost(below, level)(plan.nodes + 1) - profile.verify_cost(below, level)(length + 1)
            tau = 1.0 + float(np.cumprod(accepts(profile, below, level, length, widths=plan.widths)).sum())
    return (ms + profile.round_ms) / tau
