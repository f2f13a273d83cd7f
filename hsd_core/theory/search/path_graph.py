"""The shortest-path graph for people: the distance of every node, and the edges of a plan.

Per token of the target, a path costs the sum over its edges of `cost_ms` times the gains of the edges before it
(a generalized shortest path). That sum leaves the overshoot out; `Ranked.prediction` of the plan does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.search.edges import Mode
from hsd_core.theory.search.paths import grow
from hsd_core.theory.search.planner import Planner


@dataclass(frozen=True, slots=True)
class Edge:
    """One unit at `above` takes `gain` blocks of `below`, `cost_ms` in all; `token_ms`: its part of a token's time.

    Ends are (level, block length); a unit of the target is a token, and its block length 1. `below` is None where the
    level drafts itself: gain 0, the cost that of its block.
    """

    above: tuple[int, int]
    below: tuple[int, int] | None
    gain: float
    cost_ms: float
    token_ms: float


def path_edges(planner: Planner, plan: StackPlan) -> list[Edge]:
    """The edges of a plan, the target's first."""
    profile = planner.profile
    ends = list(zip(plan.levels, (*plan.blocks, 1), strict=True))
    edges: list[Edge] = []
    flow = 1.0
    for place in range(len(ends) - 1, 0, -1):
        (level, wanted), (below, u) = ends[place], ends[place - 1]
        mode = Mode(plan.rule_of(place), plan.bonus_of(place))
        table = planner.edges.table(below, level, mode)
        top = level == profile.target
        gain = float(1.0 / table.tokens[u - 1] if top else table.rounds[wanted - 1, u - 1])
        cost = gain * (float(table.ms[u - 1]) + (profile.round_ms if top else 0.0))
        edges.append(Edge(ends[place], ends[place - 1], gain, cost, flow * cost))
        flow *= gain
    level, wanted = ends[0]
    ms = profile.levels[level].block_ms(wanted) if plan.blocks else profile.plain_ms
    return [*edges, Edge(ends[0], None, 0.0, ms, flow * ms)]


def node_ms(planner: Planner) -> Array:
    """D(i, t), the least ms to get a block of t from level i: (levels below the target, max_block)."""
    profile = planner.profile
    least = np.full((profile.target, profile.max_block), np.inf)
    for layer in grow(planner.edges, planner.modes, list(range(profile.target)), profile.target, 1):
        some = list(layer.levels)
        least[some] = np.minimum(least[some], layer.ms[:, :, 0])
    return least
