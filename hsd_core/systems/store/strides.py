"""How many tokens to draft before a store is asked for all of them at once: OS3 of RaLMSpec (arXiv 2401.14021, 4.2).

A round of s steps ends at the first wrong one, or at its end. With gamma, the chance that a step is right:

    steps of a round   (1 - gamma^s) / (1 - gamma)
    one after another  s a + b
    at once            gamma^s ((s - 1) a + max(a, b)) + (1 - gamma^s) (s a + b)

where a is a step, b a query of the store, and "at once" the next round begins while the query is under way. One after
another s = 1 is the best as long as gamma <= a / (a + b): at the paper's most for gamma, 0.6, wherever b <= 2/3 a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.core.policies import DraftState, Fixed

SEEN = 5  # rounds that gamma is estimated from (w)
MOST = 0.6  # that gamma is taken for (gamma_max)
LONGEST = 64


def steps_kept(gamma: float, stride: int) -> float:
    """Expected steps of a round of `stride`."""
    return float(stride) if gamma >= 1.0 else (1.0 - gamma**stride) / (1.0 - gamma)


def round_ms(gamma: float, stride: int, step: float, query: float, *, at_once: bool = False) -> float:
    """What a round takes. step, query: ms of each. at_once: the next round goes on while the query is under way."""
    whole = stride * step + query
    if not at_once:
        return whole
    right = gamma**stride
    return right * ((stride - 1) * step + max(step, query)) + (1.0 - right) * whole


def best_stride(gamma: float, step: float, query: float, *, at_once: bool = False, longest: int = LONGEST) -> int:
    """The stride of most steps a ms; of equal ones the shortest."""

    def speed(stride: int) -> float:
        return steps_kept(gamma, stride) / round_ms(gamma, stride, step, query, at_once=at_once)

    return max(range(1, longest + 1), key=lambda stride: (speed(stride), -stride))


def gamma_of(rounds: Sequence[tuple[int, int]]) -> float:
    """The estimate of gamma from rounds (steps drafted, steps kept): kept / (kept + rounds that were cut), `MOST` at
    most; 0 before there is any."""
    kept = sum(right for _, right in rounds)
    cut = sum(right < drafted for drafted, right in rounds)
    return min(MOST, kept / (kept + cut)) if kept + cut else 0.0


@dataclass(slots=True)
class Spaced(Fixed):
    """Stop where OS3 says that a query of a store pays best, at T tokens at the latest (see `strides`).

    It looks at the last rounds alone and at `ask`, what a query takes beside a step, never at the clock: so a run can
    be repeated.
    """

    ask: float
    rounds: tuple[tuple[int, int], ...] = ()

    def stops(self, state: DraftState) -> bool:
        gamma = gamma_of(self.rounds)
        return state.length >= best_stride(gamma, 1.0, self.ask, longest=state.block)

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        self.rounds = (*self.rounds, (handed_up, accepted))[-SEEN:]
