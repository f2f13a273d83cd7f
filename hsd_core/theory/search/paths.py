"""Shortest paths over nodes (level, block length), by dynamic programming.

A node (i, t) means "level i hands up at least t tokens". Its edge to (j, u) means that it collects them from blocks of
u tokens of j: E[R(t; a, u)] verifications of c_i(rows(u)) ms each, and as many blocks of (j, u). Blocks are assumed to
have their nominal length: only the overshoot does not separate into edges.

D(i, t), the ms for t tokens of level i, is t drafts if i is the bottom level, else the minimum over (j, u), j < i, of

    E[R(t; a_ji, u)] (c_i(rows(u)) + D(j, u))

and the answer is the minimum of (c_K(rows(u)) + D(j, u)) / E[X_K]: a generalized shortest path. Gains are positive and
level indices fall along every path, so plain dynamic programming is optimal: O((K T_max)^2) edges for each number of
levels, which are separate so that "the best plan of three levels" has an answer too. Block lengths need not rise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.latency.blocks import accepts, lookup_lengths, rows_of
from hsd_core.theory.latency.plans import StackPlan, judges_several
from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import TOKENWISE, Profile


@dataclass(frozen=True, slots=True)
class Mode:
    """How an edge verifies."""

    rule: str
    bonus: bool


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """The edges of a verifier over a drafter, for every block length u = 1, ..., T_max of the drafter (column u - 1).

    `rounds[t - 1, u - 1]`: E[R(t; a, u)], verifications until t tokens are collected. `tokens`: mean tokens of a
    verification. `ms`: its mean cost. For a verifier over all drafters there are two more axes before u: drafter, mode.
    """

    rounds: Array
    tokens: Array
    ms: Array


@dataclass(slots=True)
class Edges:
    """The edge tables of a profile, computed on demand for all verifiers of a drafter at once."""

    profile: Profile
    _tables: dict[tuple[int, int, Mode], EdgeTable] = field(default_factory=dict)
    _into: dict[tuple[int, tuple[Mode, ...]], EdgeTable] = field(default_factory=dict)
    _drafted: list[Array] = field(default_factory=list)

    def drafted(self) -> Array:
        """ms of a block of u tokens of each level below the target as the bottom level: (target, T_max)."""
        if not self._drafted:
            lengths, below = range(1, self.profile.max_block + 1), self.profile.levels[:-1]
            self._drafted.append(np.array([[level.block_ms(u) for u in lengths] for level in below]))
        return self._drafted[0]

    def into(self, level: int, modes: tuple[Mode, ...]) -> EdgeTable:
        """The edges from `level` to every level below it, in each of the modes."""
        key = (level, modes)
        if key not in self._into:
            tables = [[self.table(below, level, mode) for mode in modes] for below in range(level)]
            self._into[key] = EdgeTable(
                np.array([[table.rounds for table in row] for row in tables]).transpose(2, 0, 1, 3),
                np.array([[table.tokens for table in row] for row in tables]),
                np.array([[table.ms for table in row] for row in tables]),
            )
        return self._into[key]

    def table(self, below: int, level: int, mode: Mode) -> EdgeTable:
        """The edges from `level` to `below`."""
        if (below, level, mode) not in self._tables:
            self._tables.update(((below, above, mode), table) for above, table in self._make(below, mode))
        return self._tables[below, level, mode]

    def _make(self, below: int, mode: Mode) -> Iterator[tuple[int, EdgeTable]]:
        """The tables of every level above `below`."""
        profile, longest = self.profile, self.profile.max_block
        above = range(below + 1, profile.target + 1)
        a = np.array([accepts(profile, below, level, longest, rule=mode.rule) for level in above])
        kept = np.concatenate((np.ones((len(a), 1)), np.cumprod(a, axis=1)), axis=1)  # P(the first m are accepted)
        dist = self._block_lengths(below)
        at_least = np.cumsum(dist[:, ::-1], axis=1)[:, ::-1]
        if not mode.bonus:  # X = min(X with a bonus, max(N, 1))
            at_least = np.concatenate((at_least[:, :1], at_least[:, 2:], np.zeros((longest, 1))), axis=1)
        more = kept[:, None] * at_least  # P(X > x): (above, u, x)
        steps = more[..., :-1] - more[..., 1:]  # P(X = x + 1)
        visits = np.zeros((len(a), longest, longest))  # P(a round starts at n tokens): (above, u, n)
        visits[..., 0] = 1.0
        for start in range(longest - 1):
            visits[..., start + 1 :] += visits[..., start, None] * steps[..., : longest - 1 - start]
        rounds, tokens = np.cumsum(visits, axis=2), more.sum(axis=2)
        rows = rows_of(profile.levels[below], longest, mode.bonus)
        judged = not profile.levels[below].beside or judges_several(mode.rule)
        for at, level in enumerate(above):
            ms = dist @ profile.verify_cost(below, level).at(rows) if judged else np.full(longest, np.inf)
            yield level, EdgeTable(rounds[at].T, tokens[at], ms)

    def _block_lengths(self, below: int) -> Array:
        """P(N = n) for a block of u tokens of a level, u = 1, ...: (T_max, T_max + 1)."""
        longest, drafter = self.profile.max_block, self.profile.levels[below]
        if drafter.hit_rate is None:
            return np.eye(longest + 1)[1:]
        dists = np.zeros((longest, longest + 1))
        for u in range(1, longest + 1):
            dists[u - 1, : u + 1] = lookup_lengths(drafter.hit_rate, drafter.reach, u)
        return dists


Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PathLayer:
    """The cheapest paths to the nodes of some levels (ascending), all with the same number of levels:
    `ms[level, t - 1, rank]`; inf if a node has fewer paths. `came`: the index of the last edge among the ways into the
    level.
    """

    levels: tuple[int, ...]
    ms: Array
    came: Ints

    def below(self, level: int) -> int:
        """How many of the levels are below `level`."""
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

    Cheapest first; the list ends at the largest number of levels with a path.

    Args:
        modes: how an edge may verify; each edge uses the best of them.
        allowed: the levels below the target that may be used, ascending. bottoms: those that may draft; None: all.
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
    costliest = np.sort(np.concatenate([ms for ms, _ in ends]))[:keep][-1]
    return [
        [
            _plan(layers[: depth + 1], modes, target, way)
            for rank, (ms, way) in enumerate(zip(priced.tolist(), ways.tolist(), strict=True))
            if ms < np.inf and (rank < apiece or ms <= costliest)
        ]
        for depth, (priced, ways) in enumerate(ends)
    ]


def path_of_each_set(edges: Edges, modes: tuple[Mode, ...], allowed: Sequence[int], most: int) -> list[StackPlan]:
    """The plan of the cheapest path through each set of levels: of 2, 3, ..., `most` levels with the target.

    Args: as for `cheapest_paths`. n levels have at most 2^n - 1 sets; sets with the same beginning share its
    computation.
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
    """The layers of nodes with 1, 2, ..., `most` levels, as long as there are any."""
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
    most = max(map(layer.below, levels), default=0) * len(modes) * layer.ms[0].size  # ways into the highest level
    nodes = (len(levels), longest, min(keep, most))
    out = PathLayer(levels, np.full(nodes, np.inf), np.zeros(nodes, np.int64))
    for at, level in enumerate(levels):
        priced, chosen = _over(edges, modes, layer, level, keep)
        out.ms[at, :, : chosen.shape[1]] = priced
        out.came[at, :, : chosen.shape[1]] = chosen
    return out


def _over(edges: Edges, modes: tuple[Mode, ...], layer: PathLayer, level: int, keep: int) -> tuple[Array, Ints]:
    """One verifier over every node of a layer: the least ms of its block of t tokens, and the ways, (t - 1, rank)."""
    ms, table = _ways(edges, modes, layer, level)
    priced = (table.rounds[..., None] * ms).reshape(edges.profile.max_block, -1)
    chosen = _least(priced, keep)
    return np.take_along_axis(priced, chosen, axis=1), chosen


def _ways(edges: Edges, modes: tuple[Mode, ...], layer: PathLayer, level: int) -> tuple[Array, EdgeTable]:
    """All ways from a level to a layer: ms of a verification and its block, (below, mode, u, rank); and their edges,
    without the rank.
    """
    below = layer.below(level)
    table = edges.into(level, modes)
    if layer.levels[:below] != tuple(range(level)):
        some = list(layer.levels[:below])
        table = EdgeTable(table.rounds[:, some], table.tokens[some], table.ms[some])
    return table.ms[..., None] + layer.ms[:below, None], table


def _plan(layers: Sequence[PathLayer], modes: tuple[Mode, ...], target: int, way: int) -> StackPlan:
    """The plan of a way into the target, traced back through the layers."""
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
    """Columns of the `keep` smallest values of each row, ascending; equal ones in column order."""
    if keep < values.shape[1]:
        some = np.sort(np.argpartition(values, keep - 1, axis=1)[:, :keep], axis=1)
    else:
        some = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(np.take_along_axis(values, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
