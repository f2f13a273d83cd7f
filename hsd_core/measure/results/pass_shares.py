"""What the passes of early exits take of a whole pass, as the machine's shipped profile has it: why a stack of exits
loses or gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import AT
from hsd_core.grammar.stack_text import LevelSpec, StackError, parse
from hsd_core.theory import Profile


def pass_shares(stack: str, profile: Profile) -> list[dict[str, Any]]:
    """Of each exit of a stack, cheapest first, `at` which layer it ends and the `share` that one of its passes for one
    token takes of the target's (0 to 1); exits that the profile does not know are left out."""
    whole = profile.levels[profile.target].cost(1)
    known = {at: level.cost(1) for level in profile.levels for at in _ends(f"{level.spec},target")}
    return [{"at": at, "share": known[at] / whole} for at in _ends(stack) if at in known]


def measured_on(about: Mapping[str, Any], profiles: list[Profile]) -> Profile | None:
    """The greedy profile of the machine, preset and device that results say they are from."""
    same = ("machine", "preset", "device")
    found = (one for one in profiles if one.temperature == 0 and all(one.about.get(x) == about.get(x) for x in same))
    return next(found, None)


def _is_exit(level: LevelSpec) -> bool:
    """Whether it reads the target's first layers, at one depth, and has a distribution there."""
    kind = kind_of(level)
    return kind.placement.verifies and kind.shares.reads is not None and kind.shares.reads.depth == AT.name


def _ends(stack: str) -> list[int]:
    """The layers at which the exits of a stack end."""
    try:
        return [level[AT] for level in parse(stack) if _is_exit(level)]
    except StackError:
        return []
