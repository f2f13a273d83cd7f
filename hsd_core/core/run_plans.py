"""Plans: which levels of a stack a round runs, with which block lengths, and the replanner that chooses them.

A `Replanner` is called between two rounds, with what was committed, drafted and judged in the round before; never with
times. It may also look how many other runs there are. Given the committed text, the next round follows the target's
distribution under every plan, so a plan chosen from the past does not change the output's distribution, and a run can
be repeated. A level that rests is not run; it catches up on the context when it joins again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The levels that run, by their index in the stack, the target last, and T of each but the target.

    why, predicted_ms, left_ms, acceptance and load go into the trace: see `events.Plan`.
    """

    levels: tuple[int, ...]
    blocks: tuple[int, ...]
    why: str = ""
    predicted_ms: float | None = None
    left_ms: float | None = None
    acceptance: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    load: int | None = None

    def check(self, verifies: Sequence[bool], longest: int) -> None:
        """Check the plan against a stack.

        Args:
            verifies: whether each of its levels can verify. longest: the largest T that there is room for.
        Raises:
            ValueError: it is not a plan of that stack; the message names the reason.
        """
        top = len(verifies) - 1
        if not self.levels or self.levels[-1] != top or self.levels[0] < 0:
            raise ValueError(f"a plan of the levels {self.levels}; it must end with the target, level {top}")
        if any(below >= above for below, above in pairwise(self.levels)):
            raise ValueError(f"a plan of the levels {self.levels}; they must rise")
        if len(self.blocks) != len(self.levels) - 1 or any(block < 1 for block in self.blocks):
            raise ValueError(f"block lengths {self.blocks} for the levels {self.levels}; each but the target needs one")
        if max(self.blocks, default=0) > longest:
            raise ValueError(f"block lengths {self.blocks}; the run has room for {longest} at the most")
        for level in self.levels[1:]:
            if not verifies[level]:
                raise ValueError(f"level {level} cannot verify; it can only be the first of a plan")


@dataclass(frozen=True, slots=True)
class Drafted:
    """The bottom level of the plan drafted `tokens` tokens; 0: a lookup without a match."""

    level: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Checked:
    """`level` judged a block of `tokens` >= 1 tokens of the level `below`, and kept the first `accepted`."""

    level: int
    below: int
    tokens: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Round:
    """A finished round: the committed ids, and what was drafted and judged, in order."""

    index: int
    committed: tuple[int, ...]
    outcomes: tuple[Drafted | Checked, ...]


class Replanner(Protocol):
    """Chooses the plan of a run; one object serves one run."""

    @property
    def longest(self) -> int:
        """The largest T of any of its plans: a run allocates for it before it begins."""
        ...

    def settings(self) -> dict[str, Any]:
        """What rebuilds it, together with the profile; plain JSON types, for the header."""
        ...

    def first(self) -> RunPlan:
        """The plan of round 0."""
        ...

    def after(self, past: Round) -> RunPlan | None:
        """Called after each round but the last: the plan from the next round on, None to keep the present one."""
        ...
