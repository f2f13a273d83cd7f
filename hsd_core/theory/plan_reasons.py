"""Why a plan was changed, and where its profile was measured: sentences for the trace, the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.stacks.targets import preset_option
from hsd_core.theory import Profile, Ranked, StackPlan

_SOURCES = {"measured": "measured on the machine of this run", "shipped": "shipped with the program", "given": "given"}


def pair_key(pair: tuple[int, int]) -> str:
    """The name of a pair in a trace: "drafter->verifier"."""
    return f"{pair[0]}->{pair[1]}"


@dataclass(frozen=True, slots=True)
class EstimateChange:
    """A changed estimate, by its key: its value when the previous plan was chosen, and now.

    `later`: that plan was chosen during the run; else the value is the profile's.
    """

    key: str
    was: float
    now: float
    later: bool


def reason(
    profile: Profile,
    chosen: Ranked,
    left: Ranked | None,
    moved: EstimateChange | None,
    *,
    exploring: bool = False,
    returned: bool = False,
) -> str:
    """The estimate that changed most since the previous plan, the changes of the plan, and the predicted saving.

    left: the previous plan, None at the start.
    """
    ms = f"{chosen.prediction.ms_per_token:.1f} ms a token predicted"
    if left is None:
        return f"the profile's best plan: {ms}, plain decoding {profile.plain_ms:.1f}"
    before = f"{left.prediction.ms_per_token:.1f}"
    if exploring:
        return f"one round to see how another plan fares: {ms}, the best {before}"
    if returned and chosen.plan == left.plan:
        return f"back from exploring: {ms}"
    text = f"{changes(profile, left.plan, chosen.plan)}: {ms} instead of {before}"
    if moved is not None:
        text = f"{_observed(profile, moved)}, so {text}"
    return f"after exploring: {text}" if returned else text


def _observed(profile: Profile, moved: EstimateChange) -> str:
    was = f"{moved.was:.2f} when that plan was chosen" if moved.later else f"{moved.was:.2f} in the profile"
    if moved.key == "hit":
        return f"lately {moved.now:.2f} of {profile.names[0]}'s lookups hit, {was}"
    below, level = (profile.names[int(i)] for i in moved.key.split("->"))
    return f"lately {level} accepted {moved.now:.2f} of {below}'s tokens, {was}"


def origin_words(profile: Mapping[str, Any] | None, machine: str | None, preset: str | None) -> str:
    """Where a header's profile was measured, and what to do if that was not on the run's machine; the same text as
    `originText` of assets/js/tabs/explore/tower/floor/floor-notes.js.
    """
    about = (profile or {}).get("about")
    source = str(about.get("source")) if isinstance(about, Mapping) else ""
    if not isinstance(about, Mapping) or source not in _SOURCES:
        return "where the profile was measured is not recorded"
    where, day = (str(about.get(key) or "")[:80] for key in ("machine", "recorded"))
    if source == "measured":
        return f"profile {_SOURCES[source]}{day and f' on {day}'}"
    profile_words = f"profile {_SOURCES[source]}, measured{where and f' on {where}'}{day and f', {day}'}"
    other = f"not on the machine of this run, {machine}"
    alike = "another machine of the same description" if where == machine else other
    measure = f"python -m hsd_core calibrate {preset_option(preset or '')}"
    return f"{profile_words}: {alike}, where passes may cost more or less; {measure} measures it"


def requests(load: int) -> str:
    """For example "4 requests at once"."""
    return "one request" if load == 1 else f"{load} requests at once"


def changes(profile: Profile, before: StackPlan, after: StackPlan) -> str:
    """The levels that join and leave, and the changes of T."""
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
