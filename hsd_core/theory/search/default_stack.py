"""The default stack of a preset on this machine, and the origin of its block lengths. Needs no torch.

A preset has one default for every machine. A profile has the costs of passes on one of them, so the best plan of the
same levels replaces the default; of the copies of the target in fewer bits it may take another one than the preset. A
level is left out if it does not pay by the profile: if the best plan without it is faster at every end of the intervals
of the acceptances. Rows on which levels catch up are counted.

The profile is, in this order: one measured on this machine for this target (`calibrate`, else `calibrate --quick`), or
the shipped profile of the most similar machine. If no profile has the levels, the preset's block lengths are used.
`HSD_DEFAULT=preset` always uses them: for runs that must be the same on several machines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import POLICY, THETA
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import format_stack, level_of, parse
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

_FEW = 8  # least number of paths ranked by the exact recursion
_PAIR = 2  # levels of the stacks that stacks of three levels are compared with


@dataclass(frozen=True, slots=True)
class PlanPrediction:
    """The planner's prediction for a default stack.

    `speedup`: over plain decoding. `two`: the best stack of two levels in the full profile, and its speed-up; `gain`:
    ms per token of that stack / of the default; `interval`: the range of the gain with the acceptances at the ends of
    their 95 % intervals, None if the profile has none. All three are None for a default of two levels.
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
    """The best plan of the levels of a preset's default stack; None if the profile cannot predict them.

    Args:
        stack: the preset's. Keys of its levels are kept, so a stack with keys for stopping or verifying is not planned.
    """
    try:
        own = plan_of(profile, stack)
    except ProfileError:
        return None
    if not own.blocks or own.bonus or own.rules or own.widths:
        return None
    levels = levels_for(profile, own)
    by_depth = _planner(profile.only(tuple(levels))).best(depth=len(own.levels), shortlist=_FEW).by_depth
    plans = [_in_full(each, levels) for each in by_depth if each.plan.blocks]
    chosen = plans[-1]
    for fewer in reversed(plans[:-1]):
        gain = _interval(profile, fewer.plan, chosen.plan)
        if gain is not None and gain[0] > 1.0:
            chosen = fewer
    return DefaultPlan(_written(profile, stack, own, chosen.plan), _plan_prediction(profile, chosen))


def levels_for(profile: Profile, own: StackPlan) -> list[int]:
    """The levels of a preset's plan, and all copies of the target in fewer bits where one is among them."""
    copies = {i for i in range(profile.target) if _is_copy(profile.levels[i].spec)}
    return sorted({*own.levels, *(copies if copies & set(own.levels) else ())})


def _planner(profile: Profile) -> Planner:
    return Planner(profile, trees=False, stops=True, catch_up=True)


def _is_copy(spec: str) -> bool:
    """Whether a level is the target's weights in fewer bits."""
    reads = kind_of(level_of(spec)).shares.reads if spec else None
    return bool(reads and reads.weights)


def _in_full(ranked: Ranked, levels: Sequence[int]) -> Ranked:
    """A plan of a part of the profile, with the level indices of the full profile."""
    return replace(ranked, plan=replace(ranked.plan, levels=tuple(levels[i] for i in ranked.plan.levels)))


def _written(profile: Profile, stack: str, own: StackPlan, chosen: StackPlan) -> str:
    """The chosen plan with the keys that the preset's stack gives its levels."""
    given = dict(zip(own.levels, parse(stack), strict=True))
    planned = zip(chosen.levels, parse(plan_text(profile, chosen)), strict=True)
    stops = (POLICY.name, THETA.name)
    return format_stack(
        [
            replace(given.get(level, spec), block=spec.block).having(**{key: spec.values.get(key) for key in stops})
            for level, spec in planned
        ]
    )


def _plan_prediction(profile: Profile, chosen: Ranked) -> PlanPrediction:
    speedup = chosen.prediction.speedup
    if len(chosen.plan.levels) <= _PAIR:
        return PlanPrediction(speedup)
    two = _planner(profile).best(depth=_PAIR, shortlist=_FEW).by_depth[-1]
    if not two.plan.blocks or not has_specs(profile, two.plan):
        return PlanPrediction(speedup)
    gain = two.prediction.ms_per_token / chosen.prediction.ms_per_token
    best_two = plan_text(profile, two.plan), two.prediction.speedup
    return PlanPrediction(speedup, best_two, gain, _interval(profile, chosen.plan, two.plan))


def _interval(profile: Profile, plan: StackPlan, other: StackPlan) -> Interval | None:
    """The range of ms per token of the other plan / of the plan, over all ends of the intervals of the acceptances that
    either depends on."""
    ends = dict(_ends(profile, {*_pairs(plan), *_pairs(other)}))
    if not ends:
        return None
    found = []
    for values in product(*ends.values()):
        pricer = Pricer(profile.with_acceptance(dict(zip(ends, values, strict=True))), catch_up=True)
        found.append(pricer.price(other).ms_per_token / pricer.price(plan).ms_per_token)
    return min(found), max(found)


def _pairs(plan: StackPlan) -> Iterator[Pair]:
    return ((below, level) for at, level in enumerate(plan.levels) for below in plan.levels[:at])


def _ends(profile: Profile, pairs: set[Pair]) -> Iterator[tuple[Pair, Interval]]:
    for below, level in sorted(pairs):
        known = None if profile.interval is None else profile.interval[below][level]
        if known is not None:
            yield (below, level), known


VARIABLE, PRESET = "HSD_DEFAULT", "preset"  # the value that selects the preset's stack
PLANNED = "planned"  # in `about` of a trace's profile: the summary of the default stack
WRITTEN, PINNED = "preset", "pinned"  # sources of a default that was not planned: no profile has it, or planning is off


@dataclass(frozen=True, slots=True)
class DefaultStack:
    """`stack`: in the grammar. `source`: of the profile (MEASURED, SHIPPED), or WRITTEN or PINNED.

    `about`: where and when the profile was measured (`origin`), or empty. `promise`: None if it was not planned.
    """

    stack: str
    source: str = WRITTEN
    about: Mapping[str, str] = field(default_factory=dict)
    promise: PlanPrediction | None = None

    @property
    def sentence(self) -> str:
        """Why it is that stack."""
        if self.promise is None:
            asked = f", as {VARIABLE}={PRESET} asks" if self.source == PINNED else ""
            return f"block lengths as the preset has them{asked}"
        day, machine = self.about.get("recorded", ""), self.about.get("machine", "")
        if self.source == MEASURED:
            what = "20-second calibration" if self.about.get("effort") == QUICK else "calibration"
            return f"the fastest by the {what} of {day} (this machine)"
        return f"the fastest by the profile of {machine}, {day} (nearest shipped)"

    @property
    def summary(self) -> str:
        """Origin and prediction in one line."""
        return "; ".join(filter(None, (self.sentence, self.promised)))

    @property
    def promised(self) -> str:
        """The planner's prediction; "" if it was not planned."""
        if self.promise is None:
            return ""
        text = f"predicted: {self.promise.speedup:.2f} times plain decoding"
        if self.promise.two is None or self.promise.gain is None:
            return text
        low, high = self.promise.interval or (None, None)
        ends = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
        return f"{text}, {self.promise.gain:.2f}{ends} times the best two levels, {self.promise.two[0]}"

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
    """The catalogue entry of a preset with this machine's default stack; `default`: its origin; `preset_stack`: the
    preset's stack. The example that equals the preset's stack is replaced by the default too."""
    device = device or _usual_device(preset)
    found, own = default_for_machine(preset, device, dtype), format_stack(parse(preset.stack(device)))
    alike = found.stack.count(",") == own.count(",")
    stacks = [
        {**asdict(one), "stack": found.stack if alike and one.stack == own else one.stack} for one in preset.stacks
    ]
    return {**entry, "default_stack": found.stack, "preset_stack": own, "default": found.as_dict(), "stacks": stacks}


@lru_cache(maxsize=64)
def _planned(preset: Preset, device: str, dtype: str | None, _: object) -> DefaultStack:
    """The default stack; the last argument is a stamp of the profiles, for the cache."""
    own = preset.stack(device)
    for profile, source in _profiles(preset, device, dtype):
        if (found := default_plan(profile, own)) is not None:
            return _default(found, profile, source)
    return DefaultStack(format_stack(parse(own)))


def _usual_device(preset: Preset) -> str:
    return "cuda" if has_cuda() and not preset.toy else "cpu"


def _profiles(preset: Preset, device: str, dtype: str | None) -> Iterator[tuple[Profile, str]]:
    """The profiles that may have the default's levels, the best first."""
    for find in (cached_profile, quick_profile):
        yield from ((one, MEASURED) for each in _dtypes(preset, device, dtype) if (one := find(preset, device, each)))
    if (shipped := shipped_profile(preset.name, device)) is not None:
        yield shipped, SHIPPED


def _dtypes(preset: Preset, device: str, dtype: str | None) -> tuple[str | None, ...]:
    """The dtypes that a preset may be opened with. A GPU before Ampere uses float16 instead of bfloat16; finding out
    which would need torch."""
    if dtype or not device.startswith("cuda"):
        return (dtype,)
    return tuple(dict.fromkeys((preset.dtype(device), "float16")))


def _default(found: DefaultPlan, profile: Profile, source: str) -> DefaultStack:
    return DefaultStack(found.stack, source, origin(profile, source), found.promise)
