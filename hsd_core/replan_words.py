"""Why a run changes its plan, as a sentence: for the trace, the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hsd_core.theory import Plan, Profile, Ranked


def pair_key(pair: tuple[int, int]) -> str:
    """How a trace names a pair: "drafter->verifier"."""
    return f"{pair[0]}->{pair[1]}"


def reason(
    profile: Profile,
    chosen: Ranked,
    left: Ranked | None,
    moved: Sequence[tuple[int, int]],
    acceptance: Mapping[str, float],
    *,
    exploring: bool = False,
    returned: bool = False,
) -> str:
    """What changes, what it is predicted to save, and the pair that departed furthest from the profile.

    left: the plan that is left, None at the start. moved: pairs that were observed, the furthest first.
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
    if returned:
        said = f"after exploring, {said}"
    for below, level in moved:
        now, measured = acceptance[pair_key((below, level))], profile.acceptance[below][level]
        names = profile.names
        said += f"; here {names[level]} keeps {now:.2f} of {names[below]}'s tokens, in the profile {measured:.2f}"
    return said


def changes(profile: Profile, before: Plan, after: Plan) -> str:
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
