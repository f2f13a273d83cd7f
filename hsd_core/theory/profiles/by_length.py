"""Profiles of the same levels by the length of the text, interpolated.

A pass over a longer text reads a longer cache, so a profile holds at one length (`calibrate --length`;
`about["length"]` is the number of tokens before the timed passes). Between two lengths the profile is interpolated, not
the predictions: milliseconds are linear in the length, as attention reads the same bytes for every token; acceptances
are assumed to be linear.

Beyond the measured lengths acceptances are those of the nearest end, and milliseconds follow the line through the last
two, but never fall as the text grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hsd_core.theory.profiles.costs import Costs, ProfileError
from hsd_core.theory.profiles.profile import LENGTH, Matrix, Pair, Profile, ProfileLevel
from hsd_core.theory.profiles.profile_store import (
    FARTHEST,
    FOLDER,
    distance_to_here,
    machine_distance,
    readable_profiles,
)

BY_LENGTH = FOLDER / "by-length"  # PRESET-DEVICE[-MACHINE]-LENGTH.json
LEAST = 0.01  # of the cost at the shortest length: shorter texts cost at least this


@dataclass(frozen=True, slots=True)
class ProfilesByLength:
    """One profile for each measured length, ascending; all of the same levels at the same temperature."""

    profiles: tuple[Profile, ...]

    def __post_init__(self) -> None:
        if not self.profiles:
            raise ProfileError("no profile is given; measure one or more with calibrate --length")
        if not all(a < b for a, b in pairwise(self.lengths)):
            raise ProfileError(f"profiles are of {list(self.lengths)} tokens of text; give each length once, rising")
        first = self.profiles[0]
        for other in self.profiles[1:]:
            if _alike(other) != _alike(first):
                raise ProfileError(
                    f"the profile of {context(other):,} tokens has other levels than that of {context(first):,}: "
                    f"{_listed(other)}, not {_listed(first)}; measure both with the same --levels and temperature"
                )

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of text, ascending."""
        return tuple(map(context, self.profiles))

    def measured(self, length: int) -> bool:
        """Whether a length is within the measured range; else it is extrapolated."""
        return self.lengths[0] <= length <= self.lengths[-1]

    def at(self, length: int) -> Profile:
        """The profile after `length` tokens of text; see above.

        Raises:
            ProfileError: the length is less than 1.
        """
        if length < 1:
            raise ProfileError(f"a text of {length} tokens; give 1 or more")
        known = self.lengths
        if length in known:
            return self.profiles[known.index(length)]
        if len(known) == 1:
            return _at(self.profiles[0], length)
        above = next((i for i, one in enumerate(known) if one > length), len(known) - 1)
        first = max(0, above - 1)
        share = (length - known[first]) / (known[first + 1] - known[first])
        return _at(_between(self.profiles[first], self.profiles[first + 1], share), length)


def context(profile: Profile) -> int:
    """Tokens of text before the passes of a profile.

    Raises:
        ProfileError: the profile does not record them.
    """
    found = profile.about.get(LENGTH)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise ProfileError(
            f"about has {LENGTH} {found!r}, not the tokens of text before its passes; measure it with "
            "calibrate --length"
        )
    return found


def shipped_by_length(
    preset: str, device: str = "cpu", *, folder: Path = BY_LENGTH, machine: str | None = None
) -> ProfilesByLength | None:
    """The greedy profiles by length that are shipped for a preset, or were added to their folder; None if there are
    none. Of several machines, those of the most similar one, and of equally similar ones those with the most lengths.

    Args:
        machine: a description as in profiles and traces, instead of this machine's.
    Raises:
        ProfileError: the profiles of one machine are not of the same levels, or a length occurs twice.
    """
    name = f"{preset.replace('/', '--')}-{device.partition(':')[0]}"
    found: dict[str, list[Profile]] = {}
    for profile in readable_profiles(folder.glob(f"{name}-*.json")):
        if profile.temperature == 0.0 and LENGTH in profile.about:
            found.setdefault(str(profile.about.get("machine", "")), []).append(profile)

    def far(described: str) -> int:
        return (
            distance_to_here({"machine": described}, device)
            if machine is None
            else machine_distance(described, machine)
        )

    for distance in range(FARTHEST + 1):
        near = [found[described] for described in sorted(found) if far(described) == distance]
        if near:
            those = max(near, key=len)
            return ProfilesByLength(tuple(sorted(those, key=context)))
    return None


def presets_by_length(folder: Path = BY_LENGTH) -> list[tuple[str, str]]:
    """The presets and devices with profiles by length."""
    abouts = (profile.about for profile in readable_profiles(folder.glob("*.json")) if LENGTH in profile.about)
    return sorted(
        {(str(about.get("preset", "")), str(about.get("device", "cpu")).partition(":")[0]) for about in abouts}
    )


def _alike(profile: Profile) -> tuple[Any, ...]:
    """What two profiles must have in common to be interpolated."""
    levels = tuple((x.name, x.spec, x.is_lookup, bool(x.beside)) for x in profile.levels)
    return profile.temperature, levels


def _listed(profile: Profile) -> str:
    return ",".join(level.spec or level.name for level in profile.levels)


def _at(profile: Profile, length: int) -> Profile:
    return replace(profile, about={**profile.about, LENGTH: length})


def _between(a: Profile, b: Profile, share: float) -> Profile:
    """The profile at a share of the way from `a` to `b`; below 0 and above 1 extrapolated."""

    def common(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[Any]:
        return [key for key in one if key in other]

    edges = {*a.edge_cost, *b.edge_cost}
    return replace(
        a,
        levels=tuple(_level(x, y, share) for x, y in zip(a.levels, b.levels, strict=True)),
        acceptance=_matrix(a.acceptance, b.acceptance, share),
        max_block=min(a.max_block, b.max_block),
        edge_cost={pair: _costs(a.verify_cost(*pair), b.verify_cost(*pair), share) for pair in sorted(edges)},
        interval=None,
        round_ms=_ms(a.round_ms, b.round_ms, share),
        by_width=_widths(a.by_width, b.by_width, share),
        by_rule={rule: _matrix(a.by_rule[rule], b.by_rule[rule], share) for rule in common(a.by_rule, b.by_rule)},
        lengths=None,
    )


def _level(a: ProfileLevel, b: ProfileLevel, share: float) -> ProfileLevel:
    drafted = None if a.draft_ms is None and b.draft_ms is None else _ms(a.block_ms(1), b.block_ms(1), share)
    return replace(
        a,
        cost=_costs(a.cost, b.cost, share),
        hit_rate=None if a.hit_rate is None or b.hit_rate is None else _part(a.hit_rate, b.hit_rate, share),
        reach=_depths(a.reach, b.reach, share),
        draft_ms=None if a.is_lookup else drafted,
        beside=_depths(a.beside, b.beside, share),
    )


def _costs(a: Costs, b: Costs, share: float) -> Costs:
    """Costs at all row counts of either."""
    rows = sorted({*a.rows, *b.rows})
    return Costs(tuple(rows), tuple(_ms(a(n), b(n), share) for n in rows))


def _matrix(a: Matrix, b: Matrix, share: float) -> Matrix:
    return tuple(
        tuple(_part(x, y, share) if j > i else float(i == j) for j, (x, y) in enumerate(zip(one, other, strict=True)))
        for i, (one, other) in enumerate(zip(a, b, strict=True))
    )


def _widths(
    a: Mapping[Pair, tuple[float, ...]], b: Mapping[Pair, tuple[float, ...]], share: float
) -> dict[Pair, tuple[float, ...]]:
    """Acceptances by width, as far as both have them."""
    return {pair: tuple(_part(x, y, share) for x, y in zip(a[pair], b[pair], strict=False)) for pair in a if pair in b}


def _depths(a: Sequence[float], b: Sequence[float], share: float) -> tuple[float, ...]:
    """Values by depth, as deep as the deeper one; the other is continued with its last value, or 1 if it has none."""
    deep = max(len(a), len(b))
    padded = [[*one, *[one[-1] if one else 1.0] * (deep - len(one))] for one in (a, b)]
    return tuple(_part(x, y, share) for x, y in zip(*padded, strict=True))


def _ms(a: float, b: float, share: float) -> float:
    """A time on the line through both; beyond them never falling as the text grows, and at least `LEAST` of the
    first."""
    if 0.0 <= share <= 1.0:
        return a + (b - a) * share
    rise = max(0.0, b - a)
    return b + rise * (share - 1.0) if share > 1.0 else max(LEAST * a, a + rise * share)


def _part(a: float, b: float, share: float) -> float:
    """A probability, or tokens of an offer; beyond both the nearer value."""
    return a + (b - a) * min(1.0, max(0.0, share))
