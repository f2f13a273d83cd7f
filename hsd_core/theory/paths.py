"""Shortest paths over nodes (level, block length), by dynamic programming.

D(i, t), the ms to get t tokens from level i, is t drafts if i is the bottom, else the least over (j, u), j < i, of

    E[R(t; a_ji, u)] (c_i(rows(u)) + D(j, u))

and the answer is the least of (c_K(rows(u)) + D(j, u)) / E[X_K]: a generalized shortest path. Gains are positive and
level indices fall along every path, so plain dynamic programming is optimal: O((K T_max)^2) edges for each number of
levels, which is kept apart so that "the best plan of three levels" has an answer too. Block lengths need not rise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.costs import Array
from hsd_core.theory.edges import Edges, Mode
from hsd_core.theory.plans import Plan
from hsd_core.theory.profile import TOKENWISE

Ints = NDArray[np.int64]


class Path(NamedTuple):
    """A path of the graph; `ms` per token by its edges."""

    ms: float
    plan: Plan


@dataclass(frozen=True, slots=True)
class Nodes:
    """The cheapest ways to a level's nodes (t, rank). `came`: (level below, mode, u - 1, rank there) of each."""

    ms: Array
    came: Ints


Layer: TypeAlias = dict[int, Nodes]  # by level; of one number of levels


def cheapest_paths(
    edges: Edges, modes: Sequence[Mode], allowed: Sequence[int], most: int, keep: int
) -> Iterator[list[Path]]:
    """The `keep` cheapest paths of 2, 3, ..., `most` levels, cheapest first; ends where there are none.

    Args:
        modes: how an edge may verify; each edge takes the best of them for itself.
        allowed: the levels below the target that may take part, rising.
    """
    target = edges.profile.target
    layers: list[Layer] = []
    for layer in grow(edges, modes, allowed, most - 1, keep):
        layers.append(layer)
        below = list(layer)
        ways = [_ways(edges, modes, layer, j, target, len(layers) == 1) for j in below]
        priced = np.concatenate([(way.ms + edges.profile.round_ms) / way.tokens for way in ways])
        came = np.concatenate([way.came for way in ways])
        yield [Path(float(priced[at]), _plan(layers, modes, target, came[at])) for at in _least(priced[None], keep)[0]]


def grow(edges: Edges, modes: Sequence[Mode], allowed: Sequence[int], most: int, keep: int) -> Iterator[Layer]:
    """The nodes by the number of levels at and below them: 1, 2, ..., `most`, as long as there are any."""
    profile = edges.profile
    lengths = range(1, profile.max_block + 1)
    layer = {
        level: Nodes(
            np.array([[profile.levels[level].block_ms(t)] for t in lengths]),
            np.zeros((len(lengths), 1, 4), dtype=np.int64),
        )
        for level in allowed
    }
    for depth in range(1, most + 1):
        if not layer:
            return
        yield layer
        if depth < most:
            layer = _next(edges, modes, layer, depth == 1, keep)


def _next(edges: Edges, modes: Sequence[Mode], layer: Layer, bottom: bool, keep: int) -> Layer:
    """Every verifier over every node of a layer."""
    out = {}
    for level in layer:
        below = [j for j in layer if j < level]
        if not below or edges.profile.levels[level].is_lookup:
            continue
        ways = [_ways(edges, modes, layer, j, level, bottom) for j in below]
        priced = np.concatenate([way.rounds * way.ms for way in ways], axis=1)
        chosen = _least(priced, keep)
        came = np.concatenate([way.came for way in ways])
        out[level] = Nodes(np.take_along_axis(priced, chosen, axis=1), came[chosen])
    return out


class _Ways(NamedTuple):
    """All ways W from a level to one level below: `ms` (W,) of a verification and its block, `came` (W, 4),
    `rounds` (T_max, W) and `tokens` (W,) as in `EdgeTable`."""

    ms: Array
    came: Ints
    rounds: Array
    tokens: Array


def _ways(edges: Edges, modes: Sequence[Mode], layer: Layer, below: int, level: int, bottom: bool) -> _Ways:
    nodes = layer[below].ms
    longest, ranks = nodes.shape
    tables = [edges.table(below, level, bottom, mode) for mode in modes]
    mode, u, rank = np.indices((len(modes), longest, ranks)).reshape(3, -1)
    ms = np.concatenate([(table.ms[:, None] + nodes).ravel() for table in tables])
    came = np.stack((np.full(len(u), below), mode, u, rank), axis=1)
    rounds = np.concatenate([np.repeat(table.rounds, ranks, axis=1) for table in tables], axis=1)
    tokens = np.concatenate([np.repeat(table.tokens, ranks) for table in tables])
    return _Ways(ms, came, rounds, tokens)


def _plan(layers: Sequence[Layer], modes: Sequence[Mode], target: int, came: Ints) -> Plan:
    """The plan that a way into the target ends, read back down the layers."""
    levels, blocks, used = [target], [], []
    for depth in range(len(layers) - 1, -1, -1):
        below, mode, u, rank = (int(part) for part in came)
        levels.append(below)
        blocks.append(u + 1)
        used.append(modes[mode])
        came = layers[depth][below].came[u, rank]
    used.reverse()
    bonus, rules = tuple(mode.bonus for mode in used), tuple(mode.rule for mode in used)
    return Plan(
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
