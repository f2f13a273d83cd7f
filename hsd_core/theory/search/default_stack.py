"""The default stack of a preset on this machine, and where its block lengths come from. Needs no torch.

A preset writes its default down once, for every machine. A profile knows what passes cost on one of them, so the best
plan of the same levels takes its place. A level is left out where the profile says that it does not pay: where the best
plan without it is faster at every end of the intervals of the acceptances.

The profile is, in this order: what was measured of this very machine and target (`calibrate`, else `calibrate
--quick`), or the shipped profile of the machine most like this one. Where no profile knows the levels, the preset's own
block lengths stay. `HSD_DEFAULT=preset` keeps them everywhere: for runs that are to be the same on several machines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any

from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.models.machine import has_cuda
from hsd_core.theory.latency.plans import Ranked, StackPlan, has_specs, plan_of, plan_text
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Interval, Pair, Profile
from hsd_core.theory.profiles.profile_store import (
    MEASURED,
    QUICK,
    SHIPPED,
    cached_profile,
    origin,
    profiles_stamp,
    quick_profile,
    shipped_profile,
)
from hsd_core.theory.search.planner import Planner

_FEW = 8  # paths that the exact recursion ranks, at the least
_PAIR = 2  # levels of the stacks that a third one is measured against


@dataclass(frozen=True, slots=True)
class PlanPrediction:
    """What the planner says of a default stack before it runs.

    `speedup`: over plain decoding. `two`: the best stack of two levels in the whole profile, and its speed-up; `gain`:
    ms per token of that one / of the default, `interval`: its least and its most where the acceptances lie at the ends
    of their 95 % intervals; None where the profile has none. All three are None of a default of two levels.
    """

    speedup: float
    two: tuple[str, float] | None = None
    gain: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class DefaultPlan:
    stack: str
    promise: PlanPrediction


def default_plan(profile: Profile, stack: str) -> DefaultPlan | None:
    """The best plan of the levels of a preset's default stack; None where the profile cannot price them.

    Args:
        stack: the preset's own. Keys of its levels stay as they are, so one that says when a level stops, or how it
            verifies, is not planned.
    """
    try:
        own = plan_of(profile, stack)
    except ProfileError:
        return None
    if not own.blocks or own.bonus or own.rules or own.widths:
        return None
    part = profile.only(own.levels)
    by_depth = Planner(part, trees=False).best(depth=len(own.levels), shortlist=_FEW).by_depth
    whole = [_in_whole(each, own.levels) for each in by_depth if each.plan.blocks]
    chosen = whole[-1]
    for fewer in reversed(whole[:-1]):
        gain = _interval(profile, fewer.plan, chosen.plan)
        if gain is not None and gain[0] > 1.0:
            chosen = fewer
    return DefaultPlan(_written(stack, own, chosen.plan), _promise(profile, chosen))


def _in_whole(ranked: Ranked, levels: Sequence[int]) -> Ranked:
    """A plan of a part of the profile, with the numbers that its levels have in the whole one."""
    return replace(ranked, plan=replace(ranked.plan, levels=tuple(levels[i] for i in ranked.plan.levels)))


def _written(stack: str, own: StackPlan, chosen: StackPlan) -> str:
    blocks = dict(zip(chosen.levels, [*chosen.blocks, None], strict=True))
    specs = [
        replace(spec, block=blocks[level])
        for level, spec in zip(own.levels, parse(stack), strict=True)
        if level in blocks
    ]
    return format_stack(specs)


def _promise(profile: Profile, chosen: Ranked) -> PlanPrediction:
    speedup = chosen.prediction.speedup
    if len(chosen.plan.levels) <= _PAIR:
        return PlanPrediction(speedup)
    two = Planner(profile, trees=False).best(depth=_PAIR, shortlist=_FEW).by_depth[-1]
    if not two.plan.blocks or not has_specs(profile, two.plan):
        return PlanPrediction(speedup)
    gain = two.prediction.ms_per_token / chosen.prediction.ms_per_token
    said = plan_text(profile, two.plan), two.prediction.speedup
    return PlanPrediction(speedup, said, gain, _interval(profile, chosen.plan, two.plan))


def _interval(profile: Profile, plan: StackPlan, other: StackPlan) -> Interval | None:
    """The least and the most of ms per token of the other plan / of the plan, over all ends of the intervals of the
    acceptances that either of them rests on."""
    ends = dict(_ends(profile, {*_pairs(plan), *_pairs(other)}))
    if not ends:
        return None
    found = []
    for values in product(*ends.values()):
        pricer = Pricer(profile.with_acceptance(dict(zip(ends, values, strict=True))))
        found.append(pricer.price(other).ms_per_token / pricer.price(plan).ms_per_token)
    return min(found), max(found)


def _pairs(plan: StackPlan) -> Iterator[Pair]:
    return ((below, level) for at, level in enumerate(plan.levels) for below in plan.levels[:at])


def _ends(profile: Profile, pairs: set[Pair]) -> Iterator[tuple[Pair, Interval]]:
    for below, level in sorted(pairs):
        known = None if profile.interval is None else profile.interval[below][level]
        if known is not None:
            yield (below, level), known


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
    promise: PlanPrediction | None = None

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
    def summary(self) -> str:
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


def default_for_machine(preset: Preset, device: str | None = None, dtype: str | None = None) -> DefaultStack:
    """The default stack of a preset on a device of this machine.

    Args:
        device, dtype: None for those that the preset is opened with.
    """
    device = device or _usual_device(preset)
    if os.environ.get(VARIABLE, "").strip() == PRESET:
        return DefaultStack(format_stack(parse(preset.stack(device))), PINNED)
    return _planned(preset, device, dtype, profiles_stamp())


def with_default(
    entry: Mapping[str, Any], preset: Preset, device: str | None = None, dtype: str | None = None
) -> dict[str, Any]:
    """A preset as the catalogue lists it, with this machine's default stack; `default` says where that comes from, and
    `preset_stack` is the preset's own. Among its examples the one that is the preset's own has the same lengths."""
    device = device or _usual_device(preset)
    found, own = default_for_machine(preset, device, dtype), format_stack(parse(preset.stack(device)))
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
