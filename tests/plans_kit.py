"""Replanners for tests: a plan as a function of all rounds before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from hsd_core.core.run_plans import Checked, Round, RunPlan

Choose = Callable[[Sequence[Round]], RunPlan]


class Chosen:
    """Asks `choose` with the rounds so far; `seen` collects every plan that was followed. longest: of its T."""

    def __init__(self, choose: Choose, longest: int = 4) -> None:
        self._choose, self._past, self.longest = choose, list[Round](), longest
        self.seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()

    def settings(self) -> dict[str, Any]:
        return {"chosen": "by a test"}

    def first(self) -> RunPlan:
        self._past = []
        return self._note(self._choose(self._past))

    def after(self, past: Round) -> RunPlan | None:
        self._past.append(past)
        return self._note(self._choose(self._past))

    def _note(self, plan: RunPlan) -> RunPlan:
        self.seen.add((plan.levels, plan.blocks))
        return plan


def plans(levels: int, longest: int = 2, bottom_only: Sequence[int] = ()) -> list[RunPlan]:
    """Every subset of a stack with its target, block lengths 1 to `longest` in turn."""
    found: list[RunPlan] = []
    for size in range(levels):
        for below in combinations(range(levels - 1), size):
            if any(level in bottom_only for level in below[1:]):
                continue
            blocks = tuple(1 + (sum(below) + i) % longest for i in range(size))
            found.append(RunPlan((*below, levels - 1), blocks))
    return found


def by_outcomes(among: Sequence[RunPlan]) -> Choose:
    """A plan for every history: how many tokens each round judged and kept, and what it committed, decide."""

    def choose(past: Sequence[Round]) -> RunPlan:
        mixed = 2 * len(past)
        for round_ in past:
            kept = sum(o.accepted - o.tokens for o in round_.outcomes if isinstance(o, Checked))
            mixed += 3 * len(round_.outcomes) + 5 * kept + 7 * sum(round_.committed) + len(round_.committed)
        return among[mixed % len(among)]

    return choose
