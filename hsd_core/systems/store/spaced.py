"""The stop policy of a level whose drafts are checked by a query of a store."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.core.policies import DraftState, Fixed
from hsd_core.systems.store.strides import SEEN, best_stride, gamma_of


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
