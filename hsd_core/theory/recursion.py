"""The expected latency of a hierarchy: the exact recursion.

With i.i.d. rounds at every level (Wald), X tokens a round of level i and T_i to collect,

    L_0 = cost of a block of M_0        L_i = E[R_i] (E[c_i(rows)] + L_{i-1}),   R_i = min{r : X_1 + ... + X_r >= T_i}
    latency per token = (E[c_K(rows)] + L_{K-1}) / E[X_K]

X follows from the law of the block below, overshoot included. E[R_i] and the law of the block are a renewal sum:
v_0 = 1, v_n = sum over s < T_i of v_s P(X = n - s); E[R_i] = sum of v_n, n < T_i; P(B_i = n) = v_n for n >= T_i.

With marks (`accepts.Accepts`) a second renewal sum carries w_n = P(a round starts at token n, and the verifier above
has accepted the n tokens before it), so that the acceptance of a block does not assume independent tokens.

Where a whole block was accepted and the verifier added a token, the level below has not processed two tokens instead
of one: its next forward has a row more. The formulas leave that out; `catch_up` counts it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hsd_core.theory.accepts import ACCEPTED, BONUS, RESIDUAL, Accepts, Model, accepts, lookup_law
from hsd_core.theory.costs import Array
from hsd_core.theory.plans import LevelShare, Plan, Prediction, check_plan
from hsd_core.theory.profile import Profile


@dataclass(frozen=True, slots=True)
class _Round:
    """One verification and all that led to it. `law[x, mark]`: P(x tokens, the last of them came so): (X + 1, 3)."""

    ms: float
    law: Array
    parts: tuple[LevelShare, ...]  # of the levels below, per round of this one
    calls_ms: float  # this level's own part of `ms`
    row_ms: float = 0.0  # what a row more would cost this level


@dataclass(frozen=True, slots=True)
class _Block:
    """A block handed up. `law[n]`: P(n tokens). `length`: T; `inner`: the rounds it was collected from, if it was."""

    ms: float
    law: Array
    length: int
    parts: tuple[LevelShare, ...]
    inner: _Round | None
    row_ms: float = 0.0  # what a row more in its first forward would cost

    def fate(self, given: Accepts) -> tuple[Array, Array]:
        """What the verifier above does to it: P(m accepted, then a reject) and P(n tokens, all accepted)."""
        if self.inner is None or given.by_mark.count(given.by_mark[0]) == len(given.by_mark):
            # Only the length of the block matters: each token is accepted by its position, or all alike.
            n = len(self.law) - 1
            a = given.drafted(n) if self.inner is None else np.full(n, given.by_mark[ACCEPTED])
            kept = np.concatenate(([1.0], np.cumprod(a)))
            at_least = np.cumsum(self.law[::-1])[::-1]
            return at_least[1:] * kept[:-1] * (1.0 - a), self.law * kept
        refused, passed = _fate_of_round(self.inner.law, given)
        whole = _renewal(passed, self.length)
        rejected = np.zeros(len(whole))
        for start in range(self.length):
            rejected[start : start + len(refused)] += whole[start] * refused
        whole[: self.length] = 0.0
        return rejected, whole


@dataclass(slots=True)
class Pricer:
    """Prices plans of one profile; what plans have in common at the bottom is worked out once.

    Args:
        catch_up: count the rows that bring a drafter's cache up to date after its whole block was accepted. (Of levels
            further down than the target's own drafter: as if only the verifier right above accepted or rejected.)
    """

    profile: Profile
    model: Model = "iid"
    catch_up: bool = False
    _rounds: dict[tuple[object, ...], _Round] = field(default_factory=dict)
    _blocks: dict[tuple[object, ...], _Block] = field(default_factory=dict)
    _accepts: dict[tuple[int, int, str], Accepts] = field(default_factory=dict)
    _costs: dict[tuple[int, int], Array] = field(default_factory=dict)
    _prices: dict[Plan, Prediction] = field(default_factory=dict)

    def price(self, plan: Plan) -> Prediction:
        """The exact recursion.

        Raises:
            ProfileError: the plan does not fit the profile.
        """
        if plan not in self._prices:
            check_plan(self.profile, plan)
            self._prices[plan] = self._price(plan)
        return self._prices[plan]

    def _price(self, plan: Plan) -> Prediction:
        top = self._round(plan, len(plan.levels) - 1)
        law = top.law.sum(axis=1)
        tokens = float(law @ np.arange(len(law)))
        per_token = (top.ms + self.profile.round_ms) / tokens
        shares = (*top.parts, LevelShare(self.profile.target, 1.0, top.calls_ms, tuple(law.tolist())))
        return Prediction(per_token, self.profile.plain_ms / per_token, tokens, shares)

    def _round(self, plan: Plan, place: int) -> _Round:
        key = (plan.levels[: place + 1], plan.blocks[:place], plan.bonus and plan.bonus[:place],
               plan.rules and plan.rules[:place])  # fmt: skip
        if key not in self._rounds:
            self._rounds[key] = self._verify(plan, place) if place else self._plain()
        return self._rounds[key]

    def _block(self, plan: Plan, place: int) -> _Block:
        key = (plan.levels[: place + 1], plan.blocks[: place + 1], plan.bonus and plan.bonus[:place],
               plan.rules and plan.rules[:place])  # fmt: skip
        if key not in self._blocks:
            length = plan.blocks[place]
            if place == 0:
                self._blocks[key] = self._drafted(plan.levels[0], length)
            else:
                self._blocks[key] = _collected(plan.levels[place], self._round(plan, place), length)
        return self._blocks[key]

    def _plain(self) -> _Round:
        """Plain decoding of the target: a verification of nothing."""
        law = np.zeros((2, 3))
        law[1, BONUS] = 1.0
        ms = self.profile.levels[-1].cost(1)
        return _Round(ms, law, (), ms)

    def _drafted(self, level: int, length: int) -> _Block:
        drafter = self.profile.levels[level]
        if drafter.hit_rate is None:
            law, calls = np.eye(length + 1)[length], float(length)
        else:
            law, calls = lookup_law(drafter.hit_rate, drafter.reach, length), 1.0
        ms = drafter.block_ms(length)
        row_ms = 0.0 if drafter.is_lookup else drafter.cost(2) - drafter.cost(1)
        return _Block(ms, law, length, (LevelShare(level, calls, ms, tuple(law.tolist())),), None, row_ms)

    def _verify(self, plan: Plan, place: int) -> _Round:
        below, level = plan.levels[place - 1 : place + 1]
        bonus, block = plan.bonus_of(place), self._block(plan, place - 1)
        given = self._given(below, level, plan.rule_of(place))
        rejected, whole = block.fate(given)
        law = np.zeros((len(whole) + 1, 3))
        law[1 : len(rejected) + 1, RESIDUAL] = rejected
        if bonus:
            law[1:, BONUS] += whole
        else:
            law[1:-1, ACCEPTED] += whole[1:]
            law[1, BONUS] += whole[0]
        own = self._verification(below, level, block.law, bonus)
        if not self.catch_up:
            return _Round(own + block.ms, law, block.parts, own)
        # Over shared weights the verifier's own forward has processed the two tokens.
        owing = 0.0 if not bonus or (below, level) in self.profile.edge_cost else float(whole[1:].sum()) * block.row_ms
        *others, drafter = block.parts
        parts = (*others, replace(drafter, ms_per_round=drafter.ms_per_round + owing))
        row_ms = self._verification(below, level, np.append(0.0, block.law), bonus) - own
        if not bonus:  # of an empty block one row, of one token too
            costs = self._cost_table(below, level, 2)
            row_ms += float(block.law[0] * (costs[2] - costs[1]))
        return _Round(own + block.ms + owing, law, parts, own, row_ms)

    def _verification(self, below: int, level: int, law: Array, bonus: bool) -> float:
        """Mean ms of a verification of blocks with that law: n + 1 rows, without a bonus max(1, n): see `rows_of`."""
        costs = self._cost_table(below, level, len(law))
        if bonus:
            return float(law @ costs[1:])
        return float(law @ costs[:-1] + law[0] * costs[1])

    def _given(self, below: int, level: int, rule: str) -> Accepts:
        if (below, level, rule) not in self._accepts:
            self._accepts[below, level, rule] = accepts(self.profile, below, level, rule=rule, model=self.model)
        return self._accepts[below, level, rule]

    def _cost_table(self, below: int, level: int, rows: int) -> Array:
        """c(0), ..., c(rows)."""
        known = self._costs.get((below, level))
        if known is None or len(known) <= rows:
            known = self._costs[below, level] = self.profile.verify_cost(below, level).table(2 * rows)
        return known[: rows + 1]


def expected(profile: Profile, plan: Plan, *, model: Model = "iid") -> Prediction:
    """The exact expected latency of a plan, and where its time goes.

    Args:
        model: `iid`, or `marked` where the profile has conditional acceptances.

    Raises:
        ProfileError: the plan does not fit the profile.
    """
    return Pricer(profile, model).price(plan)


def _collected(level: int, inner: _Round, length: int) -> _Block:
    """Rounds of a verifier until at least `length` tokens are held."""
    visits = _renewal(inner.law.sum(axis=1), length)
    rounds = float(visits[:length].sum())
    visits[:length] = 0.0
    below = tuple(
        LevelShare(part.level, part.calls_per_round * rounds, part.ms_per_round * rounds, part.block_law)
        for part in inner.parts
    )
    own = LevelShare(level, rounds, rounds * inner.calls_ms, tuple(visits.tolist()))
    return _Block(rounds * inner.ms, visits, length, (*below, own), inner, inner.row_ms)


def _renewal(steps: Array, length: int) -> Array:
    """v_0 = 1, v_n = sum over s < min(n, length) of v_s steps[n - s]: (length + len(steps) - 1,)."""
    out = np.zeros(length + len(steps) - 1)
    out[0] = 1.0
    for start in range(length):
        out[start : start + len(steps)] += out[start] * steps
    return out


def _fate_of_round(law: Array, given: Accepts) -> tuple[Array, Array]:
    """Of one round's tokens: P(m accepted by the verifier above, then a reject), and P(x tokens, all accepted)."""
    a = given.by_mark[ACCEPTED]
    total, marks = law.sum(axis=1), np.array(given.by_mark)
    last = law @ marks  # P(x tokens, the last one passes)
    kept = a ** np.arange(len(law), dtype=np.float64)
    longer = np.cumsum(total[::-1])[::-1]  # P(at least x tokens)
    refused = kept[:-1] * ((1.0 - a) * np.append(longer[2:], 0.0) + (total - last)[1:])
    passed = np.concatenate(([0.0], kept[:-1] * last[1:]))
    return refused, passed
