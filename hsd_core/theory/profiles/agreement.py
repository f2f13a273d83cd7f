"""Costs of one machine, acceptances of another: what passes cost depends on the machine, who accepts whose tokens on
the weights and the texts. So a short measurement of costs may rest on a long one of acceptances.
"""

from __future__ import annotations

from dataclasses import replace

from hsd_core.theory.profiles.profile import Profile, ProfileLevel

AGREEMENT = "agreement"  # in `about`: where the acceptances are from, when they are not this profile's own


def with_agreement(profile: Profile, other: Profile) -> Profile | None:
    """A profile with the acceptances, hit rates and lengths of another one's levels of the same names; None where that
    one lacks a level, was measured at another temperature, or knows one of them as something else."""
    if profile.temperature != other.temperature or not set(profile.names) <= set(other.names):
        return None
    part = other.only(tuple(other.index(name) for name in profile.names))
    if [level.drafts_only for level in part.levels] != [level.drafts_only for level in profile.levels]:
        return None
    about = {key: part.about[key] for key in ("machine", "recorded") if key in part.about}
    return replace(
        profile,
        levels=tuple(map(_agreeing, profile.levels, part.levels)),
        acceptance=part.acceptance,
        interval=part.interval,
        by_width=part.by_width,
        by_rule=part.by_rule,
        lengths=part.lengths,
        about={**profile.about, AGREEMENT: about},
    )


def _agreeing(level: ProfileLevel, other: ProfileLevel) -> ProfileLevel:
    return replace(level, hit_rate=other.hit_rate, reach=other.reach, beside=other.beside)
