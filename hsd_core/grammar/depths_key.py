"""Several depths of one model as the value of a key: 4-8."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hsd_core.grammar.key import Key, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Depths(Key[str]):
    """Numbers of layers that rise, joined by -; a single one is one too."""

    type = "depths"
    low: int = 1
    high: int

    @property
    def title(self) -> str:
        return f"{self.name} (layers)"

    @property
    def cure(self) -> str:
        return f"use rising numbers of layers from {self.low} to {self.high}, joined by -, such as 4-8"

    def parse(self, text: str) -> str | None:
        parts = text.split("-")
        if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
            return None
        found = [int(part) for part in parts]
        rises = all(one < then for one, then in pairwise(found))
        return "-".join(map(str, found)) if rises and self.low <= found[0] and found[-1] <= self.high else None


def depths_of(value: Value | None) -> tuple[int, ...]:
    """The depths that a level's key says, rising: several, one, or none where it was given none."""
    return () if value is None else tuple(int(part) for part in str(value).split("-"))
