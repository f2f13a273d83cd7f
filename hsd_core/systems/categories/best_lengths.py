"""The best block lengths of a stack for each category of texts: a profile's costs, with acceptances of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from msgspec import Meta, Struct

from hsd_core.theory.latency.plans import StackPlan, plan_of, plan_text
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import CATEGORIES, Profile, with_pair_accepted
from hsd_core.theory.search.planner import best_block_lengths
from hsd_core.typed import Wrong, convert

MOST_ROWS = 400

Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class Row(Struct, frozen=True):
    """What a benchmark counted of a stack on texts of a category; other fields are ignored.

    acceptance: of the level below, by each level, None for the lowest and where nothing was judged. hits: the share of
    drafts of the lowest level that held a token.
    """

    stack: Annotated[str, Meta(max_length=400)]
    category: Annotated[str, Meta(min_length=1, max_length=60)]
    acceptance: Annotated[tuple[Share | None, ...], Meta(max_length=12)]
    prompts: Annotated[int, Meta(ge=0)] = 0
    hits: Share | None = None


class Counted(Struct, frozen=True):
    rows: Annotated[list[Row], Meta(max_length=MOST_ROWS)]


def rows_of(given: Any) -> list[Row]:
    """
    Raises:
        ProfileError: these are none.
    """
    try:
        return convert({"rows": given}, Counted).rows
    except Wrong as error:
        raise ProfileError(f"about.{CATEGORIES}: {error}; take a profile that bench wrote") from None


def best_lengths(
    profile: Profile, rows: Sequence[Row], check: Callable[[], None] = lambda: None
) -> dict[str, Any] | None:
    """For the stack among those of the rows that the profile prices lowest: `stack`, with the block lengths that are
    best by the profile's own acceptances, `speed_up`, and `rows`: of each category `acceptance` and `hits` as counted,
    its best `stack`, the `speed_up` predicted for that, and `usual`, the one predicted for the stack above.

    None if the profile has the levels of none of the stacks.
    """
    found: tuple[float, StackPlan, str] | None = None
    for stack in dict.fromkeys(row.stack for row in rows):
        check()
        try:
            levels = plan_of(profile, stack).levels
        except ProfileError:
            continue
        if len(levels) > 1:
            gain, blocks = best_block_lengths(profile, levels)
            if found is None or gain > found[0]:
                found = gain, StackPlan(levels, blocks), stack
    if found is None:
        return None
    gain, usual, stack = found
    answers = []
    for row in rows:
        if row.stack == stack and len(row.acceptance) == len(usual.levels):
            check()
            own = _on(profile, usual.levels, row)
            best, blocks = best_block_lengths(own, usual.levels)
            (kept,) = Pricer(own, catch_up=True).price_all([usual])
            answers.append(
                {
                    "category": row.category,
                    "prompts": row.prompts,
                    "acceptance": list(row.acceptance),
                    "hits": row.hits,
                    "stack": plan_text(profile, StackPlan(usual.levels, blocks)),
                    "speed_up": best,
                    "usual": kept.speedup,
                }
            )
    return {"stack": plan_text(profile, usual), "speed_up": gain, "rows": answers}


def _on(profile: Profile, levels: Sequence[int], row: Row) -> Profile:
    """The profile on texts of a row's category."""
    for below, level, share in zip(levels, levels[1:], row.acceptance[1:], strict=False):
        if share is not None:
            profile = with_pair_accepted(profile, below, level, share)
    lowest = profile.levels[levels[0]]
    if lowest.is_lookup and row.hits is not None:
        changed = replace(lowest, hit_rate=row.hits)
        profile = replace(profile, levels=tuple(changed if one is lowest else one for one in profile.levels))
    return profile
