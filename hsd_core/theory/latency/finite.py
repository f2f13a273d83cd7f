"""A plan over texts that end: the last rounds have less room than their blocks, and the last block is cut.

The recursion prices endless decoding. A text of N tokens takes E[R(N)] rounds, more than N / E[X] of them: the last
one may commit fewer tokens than it could. But no level drafts or collects more than there is room for before the
length limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile


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
    profile: Profile, plan: StackPlan, lengths: Sequence[int], limit: int, *, catch_up: bool = True
) -> OverTexts:
    """The exact recursion over texts of these lengths.

    Args:
        lengths: tokens of each text. limit: the most tokens that a text could have had; shorter ones ended by
            themselves, which no level knew beforehand. catch_up: see `Pricer`.
    Raises:
        ProfileError: the plan does not fit the profile, or there is no text of 1 to `limit` tokens.
    """
    if not lengths or min(lengths) < 1 or max(lengths) > limit:
        raise ProfileError(f"texts of {sorted(set(lengths))} tokens under a limit of {limit}; use 1 to {limit}")
    played = Pricer(profile, catch_up).by_room(plan, limit)
    dist = played.dist
    longer = np.bincount(lengths, minlength=limit + 1)[::-1].cumsum()[::-1]  # texts of at least n tokens
    starts, begun = np.zeros(limit + dist.shape[1]), np.zeros(limit + 1)  # P(a round starts with n tokens written)
    starts[0] = 1.0
    for written in range(max(lengths)):
        room = limit - written
        starts[written : written + dist.shape[1]] += starts[written] * dist[room]
        begun[room] = starts[written] * longer[written + 1]  # over all texts; those that are over start none
    calls = [float(begun @ part.calls) for part in played.parts]
    ms = [float(begun @ part) for part in (*(part.ms for part in played.parts), played.calls_ms)]
    rounds = float(begun.sum())
    return OverTexts(sum(lengths), rounds, (*calls, rounds), tuple(ms), rounds * profile.round_ms)
