"""Why a run changes its plan, and what it plans with, as sentences: for the trace, the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.stacks.targets import option
from hsd_core.theory import Profile, Ranked, StackPlan

_SOURCES = {"measured": "measured on the machine of this run", "shipped": "shipped with the program", "given": "given"}


def pair_key(pair: tuple[int, int]) -> str:
    """How a trace names a pair: "drafter->verifier"."""
    return f"{pair[0]}->{pair[1]}"


@dataclass(frozen=True, slots=True)
class Moved:
    """An estimate that moved, by its key: what it was when the plan that is left was chosen, and is now.

    `later`: that was in the course of the run; else it is the profile's.
    """

    key: str
    was: float
    now: float
    later: bool


def reason(
    profile: Profile,
    chosen: Ranked,
    left: Ranked | None,
    moved: Moved | None,
    *,
    exploring: bool = False,
    returned: bool = False,
) -> str:
    """The estimate that moved most since the plan that is left, what changes, and what that is predicted to save.

    left: the plan that is left, None at the start.
    """
    ms = f"{chosen.prediction.ms_per_token:.1f} ms a token predicted"
    if left is None:
        return f"the profile's best plan: {ms}, plain decoding {profile.plain_ms:.1f}"
    before = f"{left.prediction.ms_per_token:.1f}"
    if exploring:
        return f"one round to see how another plan fares: {ms}, the best {before}"
    if returned and chosen.plan == left.plan:
        return f"back from exploring: {ms}"
    said = f"{changes(profile, left.plan, chosen.plan)}: {ms} instead of {before}"
    if moved is not None:
        said = f"{_observed(profile, moved)}, so {said}"
    return f"after exploring: {said}" if returned else said


def _observed(profile: Profile, moved: Moved) -> str:
    was = f"{moved.was:.2f} when that plan was chosen" if moved.later else f"{moved.was:.2f} in the profile"
    if moved.key == "hit":
        return f"lately {moved.now:.2f} of {profile.names[0]}'s lookups hit, {was}"
    below, level = (profile.names[int(i)] for i in moved.key.split("->"))
    return f"lately {level} accepted {moved.now:.2f} of {below}'s tokens, {was}"


def origin_words(profile: Mapping[str, Any] | None, machine: str | None, preset: str | None) -> str:
    """Where a header's profile was measured, and the cure if that was not on the run's machine. As `originText` of
    assets/js/tower/floor/floor-notes.js has it.
    """
    about = (profile or {}).get("about")
    source = str(about.get("source")) if isinstance(about, Mapping) else ""
    if not isinstance(about, Mapping) or source not in _SOURCES:
        return "where the profile was measured is not recorded"
    where, day = (str(about.get(key) or "")[:80] for key in ("machine", "recorded"))
    if source == "measured":
        return f"profile {_SOURCES[source]}{day and f' on {day}'}"
    said = f"profile {_SOURCES[source]}, measured{where and f' on {where}'}{day and f', {day}'}"
    other = f"not on the machine of this run, {machine}"
    alike = "another machine of the same description" if where == machine else other
    measure = f"python -m hsd_core calibrate {option(preset or '')}"
    return f"{said}: {alike}, where passes may cost more or less; {measure} measures it"


def changes(profile: Profile, before: StackPlan, after: StackPlan) -> str:
    """Which levels join and leave, and whose T changes."""
    names = profile.names
    lengths = [dict(zip(plan.levels, plan.blocks, strict=False)) for plan in (before, after)]
    parts = [f"{names[i]} joins" for i in after.levels if i not in before.levels]
    parts += [f"{names[i]} leaves" for i in before.levels if i not in after.levels]
    parts += [
        f"T of {names[i]} {lengths[0][i]} to {block}"
        for i, block in lengths[1].items()
        if i in lengths[0] and lengths[0][i] != block
    ]
    return ", ".join(parts) or "the same levels"
