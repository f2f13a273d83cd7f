"""The default stack on a machine: a preset's levels, with the block lengths that a profile asks for.

A preset writes its default down once, for every machine. A profile knows what passes cost on one of them, so the best
plan of the same levels stands in its place. A level is left out where the profile says that it does not pay: that the
best plan without it is faster at every end of the intervals of the acceptances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.theory.latency.plans import Ranked, StackPlan, has_specs, plan_of, plan_text
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Interval, Pair, Profile
from hsd_core.theory.search.planner import Planner

_FEW = 8  # paths that the exact recursion ranks, at the least
_PAIR = 2  # levels of the stacks that a third one is measured against


@dataclass(frozen=True, slots=True)
class Promise:
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
    promise: Promise


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


def _promise(profile: Profile, chosen: Ranked) -> Promise:
    speedup = chosen.prediction.speedup
    if len(chosen.plan.levels) <= _PAIR:
        return Promise(speedup)
    two = Planner(profile, trees=False).best(depth=_PAIR, shortlist=_FEW).by_depth[-1]
    if not two.plan.blocks or not has_specs(profile, two.plan):
        return Promise(speedup)
    gain = two.prediction.ms_per_token / chosen.prediction.ms_per_token
    said = plan_text(profile, two.plan), two.prediction.speedup
    return Promise(speedup, said, gain, _interval(profile, chosen.plan, two.plan))


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
