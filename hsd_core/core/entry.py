"""A level in a stack."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.core.level import Level
from hsd_core.grammar import LevelSpec


@dataclass(frozen=True, slots=True)
class StackEntry:
    """`block` is its T; None for the target."""

    level: Level
    spec: LevelSpec
    block: int | None

    @property
    def name(self) -> str:
        return self.level.name
