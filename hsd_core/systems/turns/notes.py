"""Who wrote, where two models take turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsd_core.core.events.parts import check_lengths
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Turns(Note, frozen=True):
    """For each row of a verification 1 if it is the large model's and 0 if it is the small one's, and its entropy in
    bits."""

    large: tuple[Int, ...]
    bits: tuple[float, ...]

    def __post_init__(self) -> None:
        check_lengths(self, "large", "bits")

    def figures(self) -> Mapping[str, float]:
        """The large model's tokens, and all."""
        return {"large_tokens": float(sum(self.large)), "turn_tokens": float(len(self.large))}


def lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """The terminal's line on who wrote."""
    if tokens := figures.get("turn_tokens"):
        yield f"the large model wrote {figures['large_tokens'] / tokens:.0%} of the tokens"


NOTES = (Turns,)
