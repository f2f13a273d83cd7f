"""The best draft length for each kind of text, from the tokens a pass that a benchmark printed by category, such as
SPEED-Bench's acceptance lengths. A drafter costs the same on every kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hsd_core.doctor.diagnosis import main_setting
from hsd_core.doctor.draft_profile import Share, flat_share, profile_of
from hsd_core.doctor.gain import gain_of, worth
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.verdict import length_setting

MOST = 100


def read_categories(text: str) -> dict[str, float]:
    """Tokens a pass by category from "coding=3.1,roleplay=1.9".

    Raises:
        DoctorError: it is written otherwise.
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            found[name.strip()[:60]] = float(value)
        except ValueError:
            raise DoctorError(f"{part.strip()[:60]!r} is no category; write coding=3.1,roleplay=1.9") from None
    if wrong := [name for name, tokens in found.items() if not (name and math.isfinite(tokens) and tokens >= 1.0)]:
        raise DoctorError(f"{wrong[0]!r} has fewer than 1 token a pass; give the mean acceptance length, 1 or more")
    if len(found) > MOST:
        raise DoctorError(f"{len(found)} categories were given; at most {MOST} are read")
    return found


def by_category(
    seen: Sequence[Counts], tokens: Mapping[str, float], *, plain_ms: float | None = None
) -> list[dict[str, Any]]:
    """For each category `acceptance`, the same at every position, `k`, the best draft length (0: no drafts),
    `speed_up` (None: the plain time is not known), and `setting` in the engine's syntax.

    Args:
        tokens: a pass at the draft length of the outputs, by category.
    Raises:
        DoctorError: the outputs do not tell what drafts of other lengths would take.
    """
    profile = profile_of(main_setting(seen), plain_ms=plain_ms)
    length = profile.k or profile.length
    found = []
    for category, mean in tokens.items():
        if length and mean > 1.0 + length:
            raise DoctorError(f"{category}: {mean:g} tokens a pass are more than drafts of {length:g} can give")
        share = flat_share(mean - 1.0, length) if length else 0.0
        own = replace(profile, conditional=(), survival=(), first=None, flat=Share(share), tokens_at={}, drafting=1.0)
        gain = gain_of(own)
        if gain is None:
            raise DoctorError(
                "the best draft length by category needs the time of drafts of several lengths, or of drafting and "
                "verifying apart, or the plain time (--plain-ms) beside these outputs"
            )
        k = gain.best.k if worth(gain) else 0
        setting = length_setting(profile, k)
        found.append(
            {"category": category, "acceptance": share, "k": k, "speed_up": gain.best.speed_up, "setting": setting}
        )
    return found


def category_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The answer as lines for a terminal."""
    lines = ["By kind of text, if all positions are accepted alike:"]
    for one in found:
        gain = "" if one["speed_up"] is None else f", {one['speed_up']:.2f} times plain decoding"
        best = f"drafts of {one['k']}{gain}: {one['setting']}" if one["k"] else f"no drafts: {one['setting']}"
        lines.append(f"- {one['category']}: {100 * one['acceptance']:.0f} % accepted; {best}")
    return lines
