"""The edges of the shortest-path graph: what one verification costs and what it multiplies.

A node (i, t) stands for "level i hands up at least t tokens". Its edge to (j, u) says that it collects them from
blocks of j's u tokens: E[R(t; a, u)] verifications of c_i(rows(u)) ms each, and as many blocks of (j, u). The block is
taken to have its nominal length: the overshoot is the one thing that does not separate into edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hsd_core.theory.latency.accepts import accepts, lookup_lengths, rows_of
from hsd_core.theory.latency.plans import judges_several
from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import Profile


@dataclass(frozen=True, slots=True)
class Mode:
    """How an edge verifies."""

    rule: str
    bonus: bool


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Of a verifier over a drafter, for every block length u = 1, ..., T_max of the drafter (column u - 1).

    `rounds[t - 1, u - 1]`: E[R(t; a, u)], verifications until t tokens are held. `tokens`: a verification's mean yield.
    `ms`: its mean cost. Of a verifier over all drafters there are two axes more before u: drafter, mode.
    """

    rounds: Array
    tokens: Array
    ms: Array


@dataclass(slots=True)
class Edges:
    """The edge tables of a profile, worked out when first asked for, of all verifiers of a drafter at once."""

    profile: Profile
    _tables: dict[tuple[int, int, Mode], EdgeTable] = field(default_factory=dict)
    _into: dict[tuple[int, tuple[Mode, ...]], EdgeTable] = field(default_factory=dict)
    _drafted: list[Array] = field(default_factory=list)

    def drafted(self) -> Array:
        """ms of a block of u tokens of each level below the target, as the bottom level: (target, T_max)."""
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
        """P(N = n) of a block of u tokens of that level, u = 1, ...: (T_max, T_max + 1)."""
        longest, drafter = self.profile.max_block, self.profile.levels[below]
        if drafter.hit_rate is None:
            return np.eye(longest + 1)[1:]
        dists = np.zeros((longest, longest + 1))
        for u in range(1, longest + 1):
            dists[u - 1, : u + 1] = lookup_lengths(drafter.hit_rate, drafter.reach, u)
        return dists
