"""What another hour of training would buy, in tokens/s: the line of acceptance, priced by the exact recursion.

Predicted throughout: the line goes on to more tokens than were learned, at most `FARTHEST` times as many, and the
recursion prices each acceptance with the costs of a measured profile, block lengths chosen anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsd_core.grammar.keys import AT
from hsd_core.systems.nano.train.scaling.law import FARTHEST, Law, Reading
from hsd_core.theory import Profile
from hsd_core.theory.search.planner import best_block_lengths

COPY = "int8"  # the level that a draft may stand below
HOUR = 3600.0


def hour(about: Mapping[str, Any], largest: Mapping[str, Any], law: Law, profile: Profile | None) -> dict[str, Any]:
    """Of the training on all tokens, going on for an hour of one core.

    Args:
        about, largest: of a sweep's file, its first line and the record of that training. law: of its acceptance.
        profile: of the machine; None, or one without this draft, prices nothing.
    Returns:
        `per_hour` tokens that an hour reads, `tokens` that the line goes on to, `hours` until there, `acceptance` now
        and then, and `stacks` (see `_priced`).
    """
    per_hour = about["epochs"] * largest["tokens"] / largest["core_seconds"] * HOUR
    now, then = law.measured[-1], min(FARTHEST * law.tokens[-1], law.tokens[-1] + per_hour)
    reached = law.reaches(then)
    return {
        "per_hour": round(per_hour),
        "from": law.tokens[-1],
        "tokens": round(then),
        "hours": round(about["epochs"] * (then - law.tokens[-1]) / per_hour, 3),
        "acceptance": {"now": ends(now), "then": ends(reached)},
        "stacks": [] if profile is None else [*_priced(about["draft"], profile, now, reached)],
    }


def ends(reading: Reading) -> list[float]:
    """A reading as value, low, high."""
    return [round(each, 5) for each in (reading.value, *reading.interval)]


def _priced(draft: Mapping[str, Any], profile: Profile, now: Reading, then: Reading) -> Iterator[dict[str, Any]]:
    """The draft alone and below the 8-bit copy: `tokens_per_s` now and then as [value, low, high] by the ends of the
    acceptance, and `blocks` then. The copy is taken to accept what the target does."""
    name = draft["name"] if not draft["at"] else f"{draft['name']}@{AT}={draft['depth']}"
    if name not in profile.names or not draft["fed"]:  # the fed draft is the one that a profile's level is
        return
    below, copy = profile.index(name), [profile.index(COPY)] if COPY in profile.names else []
    for above in ([], copy) if copy else ([],):
        found: dict[str, list[float]] = {}
        for when, reading in (("now", now), ("then", then)):
            prices = []
            for acceptance in (reading.value, *reading.interval):
                pairs = {(below, level): acceptance for level in (*above, profile.target)}
                gain, blocks = best_block_lengths(profile.with_acceptance(pairs), (below, *above, profile.target))
                prices.append(round(gain * 1000.0 / profile.plain_ms, 3))
                if acceptance == reading.value:
                    chosen = blocks
            found[when] = prices
        yield {
            "stack": ",".join(profile.levels[level].spec for level in (below, *above, profile.target)),
            "blocks": list(chosen),
            "plain": round(1000.0 / profile.plain_ms, 3),
            "tokens_per_s": found,
        }
