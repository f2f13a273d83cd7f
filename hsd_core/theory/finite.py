"""A plan over texts that end: the last rounds have less room than their blocks, and the last block is cut.

The recursion prices endless decoding. A text of N tokens takes E[R(N)] rounds, more than N / E[X] of them: the last
one may commit fewer tokens than it could. But it also drafts no more than there is room for before the length limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hsd_core.theory.accepts import Model
from hsd_core.theory.costs import ProfileError
from hsd_core.theory.plans import Plan
from hsd_core.theory.profile import Profile
from hsd_core.theory.recursion import Pricer


@dataclass(frozen=True, slots=True)
class OverTexts:
    """Expected work on some texts together. `calls`, `ms`: of each level of the plan; `round_ms`: of the engine."""

    tokens: int
    rounds: float
    calls: tuple[float, ...]
    ms: tuple[float, ...]
    round_ms: float

    @property
    def ms_per_token(self) -> float:
        return (sum(self.ms) + self.round_ms) / self.tokens


def over_texts(
    profile: Profile, plan: Plan, lengths: Sequence[int], limit: int, *, model: Model = "iid", catch_up: bool = True
) -> OverTexts:  # fmt: skip
    """The exact recursion over texts of these lengths.

    Args:
        lengths: tokens of each text. limit: the most tokens that a text could have had; shorter ones ended by
            themselves, which no level knew beforehand. model, catch_up: see `Pricer`.
    Raises:
        ProfileError: the plan does not fit the profile, or there is no text of 1 to `limit` tokens.
    """
    if not lengths or min(lengths) < 1 or max(lengths) > limit:
        raise ProfileError(f"texts of {sorted(set(lengths))} tokens under a limit of {limit}; use 1 to {limit}")
    pricer, place = Pricer(profile, model, catch_up), {level: at for at, level in enumerate(plan.levels)}
    pricer.price(plan)
    starts = np.zeros(limit)  # P(a round starts with n tokens written)
    starts[0] = 1.0
    calls, ms, rounds = np.zeros(len(place)), np.zeros(len(place)), 0.0
    longer = np.bincount(lengths, minlength=limit + 1)[::-1].cumsum()[::-1]  # texts of at least n tokens
    for written in range(max(lengths)):
        prediction = pricer.price(within(plan, limit - written))
        law = np.array(prediction.levels[-1].block_law)[: limit - written]
        starts[written : written + len(law)] += starts[written] * law
        weight = float(starts[written] * longer[written + 1])
        rounds += weight
        for share in prediction.levels:
            calls[place[share.level]] += weight * share.calls_per_round
            ms[place[share.level]] += weight * share.ms_per_round
    return OverTexts(sum(lengths), rounds, tuple(calls.tolist()), tuple(ms.tolist()), rounds * profile.round_ms)


def within(plan: Plan, room: int) -> Plan:
    """The plan of a round that may commit `room` tokens: a bonus takes one place; nothing is drafted for no place."""
    blocks = list(plan.blocks)
    for place in range(len(plan.levels) - 1, 0, -1):
        room -= plan.bonus_of(place)
        if room <= 0:
            return replace(
                plan, levels=plan.levels[place:], blocks=tuple(blocks[place:]),
                bonus=plan.bonus and plan.bonus[place:], rules=plan.rules and plan.rules[place:],
            )  # fmt: skip
        blocks[place - 1] = min(blocks[place - 1], room)  # levels further down overshoot T, but not the room
    return replace(plan, blocks=tuple(blocks))
