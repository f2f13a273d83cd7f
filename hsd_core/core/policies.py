"""Stop policies: when a level stops drafting or accumulating and hands its block up.

A policy is asked *before* the next token is drawn, and sees the past only: how many tokens are held, how confident
their rows were, whether the last verification ended in a correction, and how many tokens of earlier blocks were
accepted. Looking at the next token would make the stack inexact (a total variation of 0.05 and more on toy models).

A policy belongs to one level in one run and may have state. Their names are declared in `standard.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hsd_core.models.sampling import margins, softmax

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class DraftState:
    """What a level holds when its policy is asked.

    length: tokens held. block: its T. corrected: the last verification ended in a correction.
    sure: the confidence of the rows of the tokens added last (`Policy.sure`).
    """

    length: int
    block: int
    corrected: bool
    sure: Sequence[float]


class Policy(Protocol):
    """When a level hands its block up."""

    @property
    def moving(self) -> float | None:
        """The present threshold, if it moves during a run."""
        ...

    def sure(self, logits: Tensor) -> Sequence[float]:
        """(n, V) raw logits (temperature 1) -> the confidence of each row; () for a policy that reads none."""
        ...

    def stops(self, state: DraftState) -> bool:
        """Whether the block ends here, before another token is drawn."""
        ...

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        """The level above has verified a block of `handed_up` tokens and kept `accepted`; `block` is this level's T."""
        ...


@dataclass(slots=True)
class Fixed:
    """Stop at T tokens. Tokens beyond T from the last verification are handed up as well."""

    moving = None

    def sure(self, logits: Tensor) -> Sequence[float]:
        return ()

    def stops(self, state: DraftState) -> bool:
        return state.length >= state.block

    def on_verified(self, handed_up: int, accepted: int, block: int) -> None:
        """A fixed length has no state."""


@dataclass(slots=True)
class Flush(Fixed):
    """Stop at T tokens or at the first correction: tokens after a correction are accepted less often."""

    def stops(self, state: DraftState) -> bool:
        return state.length >= state.block or state.corrected


@dataclass(slots=True)
class Confidence(Fixed):
    """Stop at T tokens or after a token whose row's raw top probability was below theta; the token is kept."""

    theta: float

    def sure(self, logits: Tensor) -> Sequence[float]:
        found: list[float] = softmax(logits).amax(-1).tolist()
        return found

    def stops(self, state: DraftState) -> bool:
        return state.length >= state.block or any(sure < self.theta for sure in state.sure)


@dataclass(slots=True)
class Margin(Confidence):
    """Stop at T tokens or after a token whose row's two likeliest tokens were less than theta apart; it is kept.

    Theta is a difference of raw logits, log p1 - log p2 in nats. Made for copies of the target in fewer bits: rounding
    changes the argmax where the two best logits are close, and seldom elsewhere.
    """

    def sure(self, logits: Tensor) -> Sequence[float]:
        found: list[float] = margins(logits).tolist()
        return found
