"""Shortest paths over nodes (level, block length), by dynamic programming.

D(i, t), the ms to get t tokens from level i, is t drafts if i is the bottom, else the least over (j, u), j < i, of

    E[R(t; a_ji, u)] (c_i(rows(u)) + D(j, u))

and the answer is the least of (c_K(rows(u)) + D(j, u)) / E[X_K]: a generalized shortest path. Gains are positive and
level indices fall along every path, so plain dynamic programming is optimal: O((K T_max)^2) edges for each number of
levels, which is kept apart so that "the best plan of three levels" has an answer too. Block lengths need not rise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import TOKENWISE
from hsd_core.theory.search.edges import Edges, EdgeTable, Mode

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PathLayer:
    """The cheapest ways to the nodes of some levels (rising), all of one number of levels: `ms[level, t - 1, rank]`.

    Where a node has fewer ways than another, inf. `came`: which of the ways into its level it is.
    """

    levels: tuple[int, ...]
    ms: Array
    came: Ints

    def below(self, level: int) -> int:
        """How many of the levels stand below that one."""
        return bisect_left(self.levels, level)


def cheapest_paths(
    edges: Edges,
    modes: tuple[Mode, ...],
    allowed: Sequence[int],
    most: int,
    keep: int,
    apiece: int,
    bottoms: Sequence[int] | None = None,
) -> list[list[StackPlan]]:
    """The plans of the `keep` cheapest paths, and at least `apiece` of each number of levels: of 2, 3, ..., `most`.

    Cheapest first; the list ends where there are no paths of so many levels.

    Args:
        modes: how an edge may verify; each edge takes the best of them for itself.
        allowed: the levels below the target that may take part, rising. bottoms: those that may draft; None: all.
    """
    target = edges.profile.target
    layers = list(grow(edges, modes, allowed, most - 1, keep, bottoms))
    ends: list[tuple[Array, Ints]] = []
    for layer in layers:
        ms, table = _ways(edges, modes, layer, target)
        priced = ((ms + edges.profile.round_ms) / table.tokens[..., None]).reshape(1, -1)
        chosen = _least(priced, keep)[0]
        ends.append((priced[0, chosen], chosen))
    if not ends:
        return []
    dearest = np.sort(np.concatenate([ms for ms, _ in ends]))[:keep][-1]
    return [
        [
            _plan(layers[: depth + 1], modes, target, way)
            for rank, (ms, way) in enumerate(zip(priced.tolist(), ways.tolist(), strict=True))
            if ms < np.inf and (rank < apiece or ms <= dearest)
        ]
        for depth, (priced, ways) in enumerate(ends)
    ]


def path_of_each_set(edges: Edges, modes: tuple[Mode, ...], allowed: Sequence[int], most: int) -> list[StackPlan]:
    """The plan of the cheapest path through each set of levels: of 2, 3, ..., `most` levels with the target.

    Args: as of `cheapest_paths`. Of n levels there are at most 2^n - 1 sets; sets that begin alike share that work.
    """
    profile = edges.profile
    drafted, plans = edges.drafted(), []
    grown = [[PathLayer((i,), drafted[[i], :, None], np.zeros((1, profile.max_block, 1), np.int64))] for i in allowed]
    while grown:
        layers = grown.pop()
        last = layers[-1]
        ms, table = _ways(edges, modes, last, profile.target)
        ended = (ms + profile.round_ms) / table.tokens[..., None]
        plans.append(_plan(layers, modes, profile.target, int(np.argmin(ended))))
        for level in allowed if len(layers) + 1 < most else ():
            if level > last.levels[0] and not profile.levels[level].drafts_only:
                priced, chosen = _over(edges, modes, last, level, 1)
                grown.append([*layers, PathLayer((level,), priced[None], chosen[None])])
    return plans


def grow(
    edges: Edges,
    modes: tuple[Mode, ...],
    allowed: Sequence[int],
    most: int,
    keep: int,
    bottoms: Sequence[int] | None = None,
) -> Iterator[PathLayer]:
    """The nodes by the number of levels at and below them: 1, 2, ..., `most`, as long as there are any."""
    bottoms = allowed if bottoms is None else bottoms
    verifiers = [level for level in allowed if not edges.profile.levels[level].drafts_only]
    drafted = edges.drafted()[list(bottoms), :, None] if bottoms else np.empty(0)
    layer = PathLayer(tuple(bottoms), drafted, np.zeros(drafted.shape, dtype=np.int64))
    for depth in range(1, most + 1):
        if not layer.levels:
            return
        yield layer
        if depth < most:
            layer = _next(edges, modes, layer, verifiers, keep)


def _next(edges: Edges, modes: tuple[Mode, ...], layer: PathLayer, verifiers: Sequence[int], keep: int) -> PathLayer:
    """Every verifier over every node of a layer."""
    longest, levels = edges.profile.max_block, tuple(level for level in verifiers if level > layer.levels[0])
    most = max(map(layer.below, levels), default=0) * len(modes) * layer.ms[0].size  # ways into the uppermost
    nodes = (len(levels), longest, min(keep, most))
    out = PathLayer(levels, np.full(nodes, np.inf), np.zeros(nodes, np.int64))
    for at, level in enumerate(levels):
        priced, chosen = _over(edges, modes, layer, level, keep)
        out.ms[at, :, : chosen.shape[1]] = priced
        out.came[at, :, : chosen.shape[1]] = chosen
    return out


def _over(edges: Edges, modes: tuple[Mode, ...], layer: PathLayer, level: int, keep: int) -> tuple[Array, Ints]:
    """One verifier over every node of a layer: the least ms of its block of t, and the ways there, (t - 1, rank)."""
    ms, table = _ways(edges, modes, layer, level)
    priced = (table.rounds[..., None] * ms).reshape(edges.profile.max_block, -1)
    chosen = _least(priced, keep)
    return np.take_along_axis(priced, chosen, axis=1), chosen


def _ways(edges: Edges, modes: tuple[Mode, ...], layer: PathLayer, level: int) -> tuple[Array, EdgeTable]:
    """All ways from a level down to a layer: ms of a verification and its block, (below, mode, u, rank there).

    And the edges that they take, without the rank.
    """
    below = layer.below(level)
    table = edges.into(level, modes)
    if layer.levels[:below] != tuple(range(level)):
        some = list(layer.levels[:below])
        table = EdgeTable(table.rounds[:, some], table.tokens[some], table.ms[some])
    return table.ms[..., None] + layer.ms[:below, None], table


def _plan(layers: Sequence[PathLayer], modes: tuple[Mode, ...], target: int, way: int) -> StackPlan:
    """The plan that a way into the target ends, read back down the layers."""
    levels, blocks, used = [target], [], []
    for layer in reversed(layers):
        _, longest, ranks = layer.ms.shape
        rest, rank = divmod(way, ranks)
        rest, u = divmod(rest, longest)
        at, mode = divmod(rest, len(modes))
        levels.append(layer.levels[at])
        blocks.append(u + 1)
        used.append(modes[mode])
        way = int(layer.came[at, u, rank])
    used.reverse()
    bonus, rules = tuple(mode.bonus for mode in used), tuple(mode.rule for mode in used)
    return StackPlan(
        tuple(reversed(levels)),
        tuple(reversed(blocks)),
        None if all(bonus) else bonus,
        None if set(rules) == {TOKENWISE} else rules,
    )


def _least(values: Array, keep: int) -> Ints:
    """Columns of the `keep` least values of each row, least first; equal ones in column order."""
    if keep < values.shape[1]:
        some = np.sort(np.argpartition(values, keep - 1, axis=1)[:, :keep], axis=1)
    else:
        some = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(np.take_along_axis(values, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
