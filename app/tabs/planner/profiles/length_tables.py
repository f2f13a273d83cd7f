"""How long the text is: what passes take by length, and which stacks are best there, with a view of the cache and
without one. A table for each preset and device that has profiles behind texts of several lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.tabs.planner.profiles.turn import kind_of
from hsd_core.theory.latency.plans import plan_text
from hsd_core.theory.profiles.by_length import ProfilesByLength, presets_by_length, shipped_by_length
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile_store import SHIPPED, origin
from hsd_core.theory.search.prices_by_length import PricesByLength, best_by_view, first_true, pays_from

POINTS = 25  # of a line, evenly from the shortest measured length to the longest; the measured ones are beside them


def length_tables(folder: Path, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """`{"tables"}`, each with its `preset`, `device` and what `length_table` gives, or why it gives nothing (`error`).

    Args:
        folder: of the profiles by length. check: called between the steps of the work; what it raises ends it.
    """
    tables = []
    for preset, device in presets_by_length(folder):
        try:
            found = shipped_by_length(preset, device, folder=folder)
            made = {} if found is None else length_table(found, check)
        except ProfileError as error:
            made = {"error": str(error)}
        tables.append({"preset": preset, "device": device, **made})
    return {"tables": tables}


def length_table(measured: ProfilesByLength, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """What a page draws.

    Returns:
        `levels`: name, spec and kind of those whose passes are listed, all but lookups, target first. `rows`: of each
        measured length `{"length", "ms", "best"}`: ms of a pass of each of the levels, and for each line the best stack
        there, `{"stack", "speedup"}`. `lines`: the best stacks with a view (`view`: true) and the best without:
        `{"view", "points": [[length, speedup], ...]}`. Between two measured lengths stands the best of those that are
        best at a measured one. `ahead`: the stretches of measured lengths on which the one with a view is the faster
        one, as [first, last]. `overtakes`: the first length from which on it stays so, None where there is none; it may
        lie beyond what was measured. `about`: as `origin` has it.
    """
    over, last = PricesByLength(measured), measured.profiles[-1]
    shown = [i for i in reversed(range(len(last.levels))) if not last.levels[i].is_lookup]
    found = []
    for profile in measured.profiles:
        found.append(best_by_view(profile, check))
        check()
    lines = [
        _Line(over, view, tuple(dict.fromkeys(map(plan_text, measured.profiles, plans))))
        for place, view in enumerate((True, False))
        if len(plans := [one.plan for two in found if (one := two[place]) is not None]) == len(found)
    ]
    first, longest = measured.lengths[0], measured.lengths[-1]
    grid = sorted({*measured.lengths, *(first + (longest - first) * i // (POINTS - 1) for i in range(POINTS))})
    drawn = []
    for line in lines:
        drawn.append({"view": line.view, "points": [[length, line.gain(length)] for length in grid]})
        check()
    rows = [
        {"length": n, "ms": [profile.levels[i].cost(1) for i in shown], "best": [line.best(n) for line in lines]}
        for n, profile in zip(measured.lengths, measured.profiles, strict=True)
    ]
    overtakes, ahead = None, list[list[int]]()
    if len(lines) > 1:

        def gain(length: int) -> float:
            return lines[0].gain(length) / lines[1].gain(length)

        overtakes, ahead = pays_from(gain, measured.lengths), stretches(gain, grid)
    return {
        "about": origin(last, SHIPPED),
        "levels": [
            {"name": last.names[i], "spec": last.levels[i].spec, "kind": kind_of(last, i), "target": i == last.target}
            for i in shown
        ],
        "rows": rows,
        "lines": drawn,
        "ahead": ahead,
        "overtakes": overtakes,
    }


def stretches(gain: Callable[[int], float], lengths: Sequence[int]) -> list[list[int]]:
    """Where a gain exceeds 1: the first and last length of each stretch, to the token.

    Args:
        lengths: rising; between two of them the gain is taken to cross 1 at most once.
    """
    found, was, before = list[list[int]](), False, lengths[0]
    for length in lengths:
        above = gain(length) > 1.0
        if above and not was:
            found.append([first_true(lambda n: gain(n) > 1.0, before, length), length])
        elif above:
            found[-1][1] = length
        elif was:
            found[-1][1] = first_true(lambda n: gain(n) <= 1.0, before, length) - 1
        was, before = above, length
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    """Stacks, with a view or without, that are best at some length."""

    over: PricesByLength
    view: bool
    stacks: tuple[str, ...]

    def best(self, length: int) -> dict[str, Any]:
        gains = {stack: self.over.price(stack, length).speedup for stack in self.stacks}
        stack = max(gains, key=gains.__getitem__)
        return {"stack": stack, "speedup": gains[stack]}

    def gain(self, length: int) -> float:
        return float(self.best(length)["speedup"])
