"""The best stack at each load: with B requests at once a pass costs by all their rows, so levels drop out as B grows.

Each load is planned over the profile of one of B runs (`under_load`), against plain decoding of B requests at once.
Profiles with measured joint passes are shipped in `BY_LOAD`, as PRESET-DEVICE.json, or with -MACHINE for several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hsd_core.theory.latency.plans import Ranked
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import FOLDER, shipped_profile
from hsd_core.theory.profiles.under_load import under_load, with_joint
from hsd_core.theory.search.planner import Answer, Planner

BY_LOAD = FOLDER / "by-load"
LOADS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class AtLoad:
    """The planner's answer with `load` requests at once. Levels are indices of the profile.

    Its ms per token are those of all requests together, its speed-ups those over plain decoding at this load.
    measured: levels whose costs are from measured joint passes. computed: those whose costs are c(n B) / B. left:
    levels of the best stack at a smaller load that are in none from this load on.
    """

    load: int
    answer: Answer
    measured: tuple[int, ...]
    computed: tuple[int, ...]
    left: tuple[int, ...] = ()

    @property
    def best(self) -> Ranked:
        return self.answer.best

    @property
    def tokens_per_s(self) -> float:
        """Of all requests together."""
        return 1000.0 / self.best.prediction.ms_per_token


def with_joint_passes(profile: Profile, folder: Path = BY_LOAD) -> tuple[Profile, Profile | None]:
    """A profile with measured joint passes of its levels, and the profile that they were measured with: itself, where
    it has its own; the shipped one of its preset and of the machine most like its own; None, where there is none."""
    if any(level.joint for level in profile.levels):
        return profile, profile
    preset, device, machine = (str(profile.about.get(key, "")) for key in ("preset", "device", "machine"))
    if profile.about.get("simulated") or not preset:
        return profile, None
    found = shipped_profile(preset, device or "cpu", folder=folder, machine=machine)
    return (profile, None) if found is None else (with_joint(profile, {x.spec: x.joint for x in found.levels}), found)


def plans_by_load(
    profile: Profile, loads: Sequence[int], *, depth: int | None = None, check: Callable[[], None] = lambda: None
) -> list[AtLoad]:
    """The best stack at each load, ascending. depth, check: as for `Planner`.

    Raises:
        ProfileError: there are no loads, or one is out of range; and see `Planner.best`.
    """
    if not loads:
        raise ProfileError("no load is given; name numbers of requests at once, such as 1, 2, 4")
    found = []
    for load in sorted(set(loads)):
        answer = Planner(under_load(profile, load), check=check).best(depth=depth)
        joined = [i for i, level in enumerate(profile.levels) if load > 1 and not level.is_lookup]
        measured = tuple(i for i in joined if load in profile.levels[i].joint)
        found.append(AtLoad(load, answer, measured, tuple(i for i in joined if i not in measured)))
    last = {level: at for at, row in enumerate(found) for level in row.best.plan.levels}  # its last row with it
    left = (tuple(sorted(level for level, row in last.items() if row == at - 1)) for at in range(len(found)))
    return [replace(row, left=levels) for row, levels in zip(found, left, strict=True)]
