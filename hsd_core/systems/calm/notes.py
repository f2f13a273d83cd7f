"""Where the tokens of CALM left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsd_core.core.events.parts import check_lengths
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Left(Note, frozen=True):
    """For each row of a verification the depth at which its token left, and how sure it was there."""

    at: tuple[Int, ...]
    sure: tuple[float, ...]

    def __post_init__(self) -> None:
        check_lengths(self, "at", "sure")

    def figures(self) -> Mapping[str, float]:
        """The layers that tokens went through, and how many tokens."""
        return {"left_layers": float(sum(self.at)), "left_tokens": float(len(self.at))}


def lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """The terminal's line on where tokens left."""
    if tokens := figures.get("left_tokens"):
        yield f"tokens left after {figures['left_layers'] / tokens:.1f} layers on average"


NOTES = (Left,)
