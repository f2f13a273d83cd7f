"""How long the text is: what passes take by length, and which stacks are best there, with a view of the cache and
without one. A table for each preset and device that has profiles behind texts of several lengths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.planner.profiles.turn import kind_of
from hsd_core.theory.latency.plans import Ranked, plan_text
from hsd_core.theory.profiles.behind_texts import ProfilesByLength, known_by_length, shipped_by_length
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.kept import SHIPPED, origin
from hsd_core.theory.search.over_lengths import OverLengths, best_two, pays_from

POINTS = 25  # of a line, evenly from the shortest measured length to the longest; the measured ones are beside them


def length_tables(folder: Path, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """`{"tables"}`, each with its `preset`, `device` and what `length_table` gives, or why it gives nothing (`error`).

    Args:
        folder: of the profiles by length. check: called between the steps of the work; what it raises ends it.
    """
    tables = []
    for preset, device in known_by_length(folder):
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
        measured length `{"length", "ms", "best": {"stack", "speedup"}, "lines"}`; ms of a pass of each of the levels,
        and the speed-up of each line there. `lines`: the best stack with a view (`view`: true) and the best without,
        at the longest length: `{"view", "stack", "points": [[length, speedup], ...], "pays_from"}`. `overtakes`: the
        first length from which on the one with a view is the faster one, None where there is none. `about`: as
        `origin` has it.
    """
    over, last = OverLengths(measured), measured.profiles[-1]
    shown = [i for i in reversed(range(len(last.levels))) if not last.levels[i].is_lookup]
    found = []
    for profile in measured.profiles:
        found.append(best_two(profile, check))
        check()
    stacks = [plan_text(last, one.plan) for one in found[-1] if one is not None]
    views = [place == 0 for place, one in enumerate(found[-1]) if one is not None]
    first, longest = measured.lengths[0], measured.lengths[-1]
    grid = sorted({*measured.lengths, *(first + (longest - first) * i // (POINTS - 1) for i in range(POINTS))})

    def gain(stack: str, length: int) -> float:
        return over.price(stack, length).speedup

    lines = []
    for view, stack in zip(views, stacks, strict=True):
        points = [[length, gain(stack, length)] for length in grid]
        lines.append({"view": view, "stack": stack, "points": points, "pays_from": over.pays_from(stack)})
        check()
    rows = [
        {
            "length": length,
            "ms": [profile.levels[i].cost(1) for i in shown],
            "best": _best(measured, *two, length=length),
            "lines": [gain(stack, length) for stack in stacks],
        }
        for length, profile, two in zip(measured.lengths, measured.profiles, found, strict=True)
    ]
    overtakes = None
    if len(stacks) > 1:
        overtakes = pays_from(lambda n: gain(stacks[0], n) / gain(stacks[1], n), measured.lengths)
    return {
        "about": origin(last, SHIPPED),
        "levels": [
            {"name": last.names[i], "spec": last.levels[i].spec, "kind": kind_of(last, i), "target": i == last.target}
            for i in shown
        ],
        "rows": rows,
        "lines": lines,
        "overtakes": overtakes,
    }


def _best(measured: ProfilesByLength, *found: Ranked | None, length: int) -> dict[str, Any] | None:
    """The fastest of those, where any is faster than plain decoding."""
    known = [one for one in found if one is not None and one.prediction.speedup > 1.0]
    if not known:
        return None
    best = max(known, key=lambda one: one.prediction.speedup)
    return {"stack": plan_text(measured.at(length), best.plan), "speedup": best.prediction.speedup}
