"""The default stack of a preset on this machine, and where its block lengths come from. Needs no torch.

In this order: from what was measured of this very machine and target (`calibrate`, else `calibrate --quick`), from the
shipped profile of the machine most like this one, as predictions are; where no profile knows the levels, as the preset
has it. `HSD_DEFAULT=preset` keeps every preset's own everywhere: runs that are to be the same on several machines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.models.machine import has_cuda
from hsd_core.theory.profiles.kept import (
    MEASURED,
    QUICK,
    SHIPPED,
    cached_profile,
    kept_stamp,
    origin,
    quick_profile,
    shipped_profile,
)
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.default_plan import DefaultPlan, Promise, default_plan

VARIABLE, PRESET = "HSD_DEFAULT", "preset"  # the value that keeps the preset's own stack
PLANNED = "planned"  # in `about` of a trace's profile: what is told of the default stack that ran
WRITTEN, PINNED = "preset", "pinned"  # sources of a default that no profile has planned: none knows it, none may


@dataclass(frozen=True, slots=True)
class DefaultStack:
    """`stack`: as it is written, never by name. `source`: of the profile (MEASURED, SHIPPED), or WRITTEN or PINNED.

    `about`: where and when the profile was measured (`origin`), or nothing. `promise`: None where nothing was planned.
    """

    stack: str
    source: str = WRITTEN
    about: Mapping[str, str] = field(default_factory=dict)
    promise: Promise | None = None

    @property
    def sentence(self) -> str:
        """Where its block lengths come from."""
        if self.promise is None:
            asked = f", as {VARIABLE}={PRESET} asks" if self.source == PINNED else ""
            return f"block lengths as the preset has them{asked}"
        day, machine = self.about.get("recorded", ""), self.about.get("machine", "")
        if self.source == MEASURED:
            what = "20-second calibration" if self.about.get("effort") == QUICK else "calibration"
            return f"block lengths planned from the {what} of {day} (this machine)"
        return f"block lengths planned from the profile of {machine}, {day} (nearest shipped)"

    @property
    def told(self) -> str:
        """Both in one line."""
        return "; ".join(filter(None, (self.sentence, self.promised)))

    @property
    def promised(self) -> str:
        """What the planner predicts of it, "" where nothing was planned."""
        if self.promise is None:
            return ""
        said = f"predicted: {self.promise.speedup:.2f} times plain decoding"
        if self.promise.two is None or self.promise.gain is None:
            return said
        low, high = self.promise.interval or (None, None)
        ends = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
        return f"{said}, {self.promise.gain:.2f}{ends} times the best two levels, {self.promise.two[0]}"

    def as_dict(self) -> dict[str, Any]:
        """In plain JSON types, for a page."""
        promise = self.promise and {
            "speedup": self.promise.speedup,
            "two": self.promise.two and {"stack": self.promise.two[0], "speedup": self.promise.two[1]},
            "gain": self.promise.gain,
            "interval": self.promise.interval and list(self.promise.interval),
        }
        return {"stack": self.stack, "source": self.source, "about": dict(self.about), "promise": promise}


def default_here(preset: Preset, device: str | None = None, dtype: str | None = None) -> DefaultStack:
    """The default stack of a preset on a device of this machine.

    Args:
        device, dtype: None for those that the preset is opened with.
    """
    device = device or _usual_device(preset)
    if os.environ.get(VARIABLE, "").strip() == PRESET:
        return DefaultStack(format_stack(parse(preset.stack(device))), PINNED)
    return _planned(preset, device, dtype, kept_stamp())


def with_default(
    entry: Mapping[str, Any], preset: Preset, device: str | None = None, dtype: str | None = None
) -> dict[str, Any]:
    """A preset as the catalogue lists it, with this machine's default stack; `default` says where that comes from, and
    `preset_stack` is the preset's own. Among its examples the one that is the preset's own has the same lengths."""
    device = device or _usual_device(preset)
    found, own = default_here(preset, device, dtype), format_stack(parse(preset.stack(device)))
    alike = found.stack.count(",") == own.count(",")
    stacks = [
        {**asdict(one), "stack": found.stack if alike and one.stack == own else one.stack} for one in preset.stacks
    ]
    return {**entry, "default_stack": found.stack, "preset_stack": own, "default": found.as_dict(), "stacks": stacks}


@lru_cache(maxsize=64)
def _planned(preset: Preset, device: str, dtype: str | None, _: object) -> DefaultStack:
    """The last argument changes with the profiles that there are."""
    own = preset.stack(device)
    for profile, source in _profiles(preset, device, dtype):
        if (found := default_plan(profile, own)) is not None:
            return _default(found, profile, source)
    return DefaultStack(format_stack(parse(own)))


def _usual_device(preset: Preset) -> str:
    return "cuda" if has_cuda() and not preset.toy else "cpu"


def _profiles(preset: Preset, device: str, dtype: str | None) -> Iterator[tuple[Profile, str]]:
    """Those that may know the default's levels here, the best first."""
    for find in (cached_profile, quick_profile):
        yield from ((one, MEASURED) for each in _dtypes(preset, device, dtype) if (one := find(preset, device, each)))
    if (shipped := shipped_profile(preset.name, device)) is not None:
        yield shipped, SHIPPED


def _dtypes(preset: Preset, device: str, dtype: str | None) -> tuple[str | None, ...]:
    """Those that a preset may be opened with. A GPU before Ampere takes float16 for bfloat16, and asking for it would
    take torch."""
    if dtype or not device.startswith("cuda"):
        return (dtype,)
    return tuple(dict.fromkeys((preset.dtype(device), "float16")))


def _default(found: DefaultPlan, profile: Profile, source: str) -> DefaultStack:
    return DefaultStack(found.stack, source, origin(profile, source), found.promise)
