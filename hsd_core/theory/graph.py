"""The shortest-path graph for people: every node with its distance, and the edges of the best plans.

Per token of the target, a path costs the sum over its edges of `cost_ms` times the gains of the edges before it
(a generalized shortest path). That sum leaves the overshoot out; `Ranked.prediction` of the plan does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hsd_core.theory.accepts import Model
from hsd_core.theory.edges import Mode
from hsd_core.theory.paths import grow
from hsd_core.theory.planner import Planner
from hsd_core.theory.plans import Plan, Ranked
from hsd_core.theory.profile import Profile

Place: TypeAlias = tuple[int, int | None]  # (level, block length); the target has no block length


@dataclass(frozen=True, slots=True)
class Node:
    """`ms`: D(level, block), the least ms to get a block of that length from that level; infinite if it cannot."""

    level: int
    block: int
    ms: float


@dataclass(frozen=True, slots=True)
class Edge:
    """One unit at `above` takes `gain` blocks of `below` and `cost_ms`, `verify_ms` for each verification.

    `below` is None where the level drafts itself: gain 0, the cost that of its block. A unit of the target is a token.
    `plans`: the ranks of the plans that pass here, 0 the best.
    """

    above: Place
    below: Place | None
    gain: float
    cost_ms: float
    verify_ms: float
    plans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """`plans`: the best ones, whose paths are `edges`, target first."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    plans: tuple[Ranked, ...]


def graph(profile: Profile, plans: Sequence[Ranked] | None = None, *, model: Model = "iid", show: int = 5) -> Graph:
    """The graph of a profile.

    Args:
        plans: an answer's plans, best first; None: ask the planner for them.
        show: how many of them to draw.
    """
    planner = Planner(profile, model)
    if plans is None:
        answer = planner.best()
        plans = (answer.best, *answer.alternatives)
    plans = tuple(plans)[:show]
    used: dict[tuple[Place, Place | None], tuple[float, float, float]] = {}
    passing: dict[tuple[Place, Place | None], list[int]] = {}
    for rank, ranked in enumerate(plans):
        for ends, numbers in path_edges(planner, ranked.plan):
            used.setdefault(ends, numbers)
            passing.setdefault(ends, []).append(rank)
    edges = tuple(Edge(*ends, *numbers, tuple(passing[ends])) for ends, numbers in used.items())
    return Graph(_nodes(planner), edges, plans)


def path_edges(planner: Planner, plan: Plan) -> list[tuple[tuple[Place, Place | None], tuple[float, float, float]]]:
    """The edges of a plan, target first: their ends, and (gain, cost_ms, verify_ms)."""
    profile = planner.profile
    blocks = (*plan.blocks, None)
    places: list[Place] = list(zip(plan.levels, blocks, strict=True))
    out: list[tuple[tuple[Place, Place | None], tuple[float, float, float]]] = []
    for at in range(len(places) - 1, 0, -1):
        (level, wanted), (below, u) = places[at], places[at - 1]
        assert u is not None, "only the target has no block length"
        mode = Mode(plan.rule_of(at), plan.bonus_of(at))
        table = planner.edges.table(below, level, at == 1, mode)
        gain = float(1.0 / table.tokens[u - 1] if wanted is None else table.rounds[wanted - 1, u - 1])
        verify_ms = float(table.ms[u - 1]) + (profile.round_ms if wanted is None else 0.0)
        out.append(((places[at], places[at - 1]), (gain, gain * verify_ms, verify_ms)))
    level, wanted = places[0]
    ms = profile.plain_ms if wanted is None else profile.levels[level].block_ms(wanted)
    out.append(((places[0], None), (0.0, ms, ms)))
    return out


def path_ms(planner: Planner, plan: Plan) -> float:
    """ms per token of a plan by its edges: the sum of costs times the gains before them."""
    total, flow = 0.0, 1.0
    for _, (gain, cost_ms, _) in path_edges(planner, plan):
        total += flow * cost_ms
        flow *= gain
    return total


def _nodes(planner: Planner) -> tuple[Node, ...]:
    profile = planner.profile
    below = range(profile.target)
    ms = np.full((len(below), profile.max_block), np.inf)
    for layer in grow(planner.edges, planner.modes, below, len(below), 1):
        for level, nodes in layer.items():
            ms[level] = np.minimum(ms[level], nodes.ms[:, 0])
    return tuple(Node(level, t + 1, float(ms[level, t])) for level in below for t in range(profile.max_block))
