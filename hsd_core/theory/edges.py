"""The edges of the shortest-path graph: what one verification costs and what it multiplies.

A node (i, t) stands for "level i hands up at least t tokens". Its edge to (j, u) says that it collects them from
blocks of j's u tokens: E[R(t; a, u)] verifications of c_i(rows(u)) ms each, and as many blocks of (j, u). The block is
taken to have its nominal length: the overshoot is the one thing that does not separate into edges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hsd_core.theory.accepts import ACCEPTED, Model, accepts, lookup_law, rows_of
from hsd_core.theory.costs import Array
from hsd_core.theory.profile import Profile


@dataclass(frozen=True, slots=True)
class Mode:
    """How an edge verifies."""

    rule: str
    bonus: bool


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Of a verifier over a drafter, for every block length u = 1, ..., T_max of the drafter (column u - 1).

    `rounds[t - 1, u - 1]`: E[R(t; a, u)], verifications until t tokens are held. `tokens`: a verification's mean yield.
    `ms`: its mean cost.
    """

    rounds: Array
    tokens: Array
    ms: Array


@dataclass(slots=True)
class Edges:
    """The edge tables of a profile, worked out when first asked for."""

    profile: Profile
    model: Model = "iid"
    _tables: dict[tuple[int, int, bool, Mode], EdgeTable] = field(default_factory=dict)

    def table(self, below: int, level: int, bottom: bool, mode: Mode) -> EdgeTable:
        """The edges from `level` to `below`. `bottom`: `below` drafts itself, it does not collect."""
        drafter = self.profile.levels[below]
        # A level that drafts differs from one that collects only in what the marks say.
        bottom = bottom and (drafter.is_lookup or self.model == "marked")
        key = (below, level, bottom, mode)
        if key not in self._tables:
            self._tables[key] = self._make(*key)
        return self._tables[key]

    def _make(self, below: int, level: int, bottom: bool, mode: Mode) -> EdgeTable:
        longest = self.profile.max_block
        drafter = self.profile.levels[below]
        given = accepts(self.profile, below, level, rule=mode.rule, model=self.model)
        a = given.drafted(longest) if bottom else np.full(longest, given.by_mark[ACCEPTED])
        kept = np.concatenate(([1.0], np.cumprod(a)))  # P(the first m tokens are accepted)
        law = np.eye(longest + 1)[1:]  # P(N = n) of a block of u, u = 1, ...: (T_max, T_max + 1)
        if drafter.hit_rate is not None:
            law = np.zeros((longest, longest + 1))
            for u in range(1, longest + 1):
                law[u - 1, : u + 1] = lookup_law(drafter.hit_rate, drafter.reach, u)
        at_least = np.cumsum(law[:, ::-1], axis=1)[:, ::-1]
        if not mode.bonus:  # X = min(X with a bonus, max(N, 1))
            at_least = np.concatenate((at_least[:, :1], at_least[:, 2:], np.zeros((longest, 1))), axis=1)
        more = kept * at_least  # P(X > x)
        steps = np.zeros((longest, longest + 2))  # P(X = x)
        steps[:, 1:] = more - np.concatenate((more[:, 1:], np.zeros((longest, 1))), axis=1)
        visits = np.zeros((longest, longest))  # P(a round starts at n tokens): (u, n)
        visits[:, 0] = 1.0
        for start in range(longest - 1):
            visits[:, start + 1 :] += visits[:, start, None] * steps[:, 1 : longest - start]
        rows = [rows_of(n, mode.bonus) for n in range(longest + 1)]
        ms = law @ self.profile.verify_cost(below, level).table(rows[-1])[rows]
        return EdgeTable(np.cumsum(visits, axis=1).T, more.sum(axis=1), ms)
