"""The number of tokens to draft before one query of a store checks them: OS3 of RaLMSpec (arXiv 2401.14021, 4.2).

A round of s steps ends at the first wrong one, or at its end. With gamma, the chance that a step is right:

    steps of a round   (1 - gamma^s) / (1 - gamma)
    one after another  s a + b
    at once            gamma^s ((s - 1) a + max(a, b)) + (1 - gamma^s) (s a + b)

where a is the time of a step, b that of a query, and "at once" means that the next round begins during the query. One
after another, s = 1 is the best while gamma <= a / (a + b): at gamma = 0.6, the paper's largest, whenever b <= 2/3 a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.core.policies import DraftState, Fixed

SEEN = 5  # rounds from which gamma is estimated (w)
MOST = 0.6  # the largest estimate of gamma (gamma_max)
LONGEST = 64


def steps_kept(gamma: float, stride: int) -> float:
    """Expected steps of a round of `stride`."""
    return float(stride) if gamma >= 1.0 else (1.0 - gamma**stride) / (1.0 - gamma)


def round_ms(gamma: float, stride: int, step: float, query: float, *, at_once: bool = False) -> float:
    """The ms of a round. step, query: ms of each. at_once: the next round begins during the query."""
    whole = stride * step + query
    if not at_once:
        return whole
    right = gamma**stride
    return right * ((stride - 1) * step + max(step, query)) + (1.0 - right) * whole


def best_stride(gamma: float, step: float, query: float, *, at_once: bool = False, longest: int = LONGEST) -> int:
    """The stride with the most steps per ms; of equal ones the shortest."""

    def speed(stride: int) -> float:
        return steps_kept(gamma, stride) / round_ms(gamma, stride, step, query, at_once=at_once)

    return max(range(1, longest + 1), key=lambda stride: (speed(stride), -stride))


def gamma_of(rounds: Sequence[tuple[int, int]]) -> float:
    """The estimate of gamma from rounds of (steps drafted, steps kept): kept / (kept + rounds cut short), at most
    `MOST`; 0 without rounds."""
    kept = sum(right for _, right in rounds)
    cut = sum(right < drafted for drafted, right in rounds)
    return min(MOST, kept / (kept + cut)) if kept + cut else 0.0


@dataclass(slots=True)
class Os3(Fixed):
    """Stop at OS3's best stride, at the latest after T tokens.

    It depends on the last rounds and on `ask`, the time of a query in steps, and not on the clock, so a run can be
    repeated.
    """

    ask: float
    rounds: tuple[tuple[int, int], ...] = ()

    def stops(self, state: DraftState) -> bool:
        gamma = gamma_of(self.rounds)
        return state.length >= best_stride(gamma, 1.0, self.ask, longest=state.block)

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        self.rounds = (*self.rounds, (handed_up, accepted))[-SEEN:]
