"""The prediction for a stack whose target verifies on a second lane (`@with=`), and the levels that cannot be used.

It assumes a second machine of the same kind. It is never ranked with predictions for one machine, and is labelled
"reckoned" wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hsd_core.grammar import kind_of, reads_draft, scheduler_of, schedulers
from hsd_core.grammar.key import StackError, Value
from hsd_core.grammar.keys import ID, WITH
from hsd_core.grammar.stack_text import LevelSpec, format_stack, parse
from hsd_core.models.drafts import known_drafts
from hsd_core.theory.latency.plans import StackPlan, check_plan, full_blocks, plan_of, plan_text
from hsd_core.theory.overlap.below import Below
from hsd_core.theory.overlap.verdicts import Verdicts
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile


@dataclass(frozen=True, slots=True)
class OnTwoLanes:
    """A plan, and the scheduler of its target with its keys."""

    plan: StackPlan
    schedule: str
    keys: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class LanesPrediction:
    """The prediction for a stack on two lanes, with a second machine of the same kind.

    `speedup`: over plain decoding on one. `tokens_per_round`: per verdict. `verifying`, `drafting`: shares of the time
    that each lane is busy.
    """

    ms_per_token: float
    speedup: float
    tokens_per_round: float
    verifying: float
    drafting: float

    def as_dict(self) -> dict[str, float]:
        """In plain JSON types, for a page."""
        return {
            "ms": self.ms_per_token,
            "speedup": self.speedup,
            "tokens": self.tokens_per_round,
            "verifying": self.verifying,
            "drafting": self.drafting,
        }


def expected_on_lanes(profile: Profile, what: OnTwoLanes, check: Callable[[], None] = lambda: None) -> LanesPrediction:
    """The expected latency on two lanes.

    Raises:
        ProfileError: the plan does not fit the profile, has one level or drafts a tree, or the schedule cannot be
            predicted.
    """
    plan, target = what.plan, profile.levels[profile.target]
    check_plan(profile, plan)
    full_blocks(plan)
    if len(plan.levels) < 2 or plan.widths or profile.levels[plan.levels[0]].beside:
        raise ProfileError(
            "two lanes need a level that drafts chains for the target; add a level, or leave its tree out"
        )
    priced = [name for name, kind in schedulers().items() if kind.make and not kind.nodes]  # they draft chains
    if what.schedule not in priced:
        raise ProfileError(
            f"profiles do not have what @with={what.schedule} needs; plan and predict with "
            f"{' or '.join(f'@with={name}' for name in priced)}"
        )
    scheduler = schedulers()[what.schedule].bind(dict(what.keys))
    assert scheduler is not None
    a = profile.accepts(plan.levels[-2], plan.levels[-1], plan.rule_of(len(plan.levels) - 1))
    # a verifier on a separate machine runs all of its layers, even if it shares some on one machine
    found = Verdicts(scheduler, Below(profile, plan), a, target.cost, profile.round_ms, check).long_run()
    ms = found.ms_per_token
    return LanesPrediction(ms, profile.plain_ms / ms, found.tokens_per_verdict, found.verifying, found.drafting)


def on_two_lanes_of(profile: Profile, stack: str) -> OnTwoLanes | None:
    """The plan and the schedule of a stack in a profile; None if it has no schedule.

    Raises:
        ProfileError: as `plan_of`.
    """
    try:
        *below, target = parse(stack)
    except StackError as error:
        raise ProfileError(str(error)) from None
    kind = scheduler_of(target)
    if kind.make is None:
        return None
    own = {key.name: target.values[key.name] for key in kind.keys if key.name in target.values}
    plan = plan_of(profile, format_stack([*below, target.having(**dict.fromkeys((WITH.name, *own)))]))
    return OnTwoLanes(plan, kind.name, tuple(own.items()))


def text_on_two_lanes(profile: Profile, what: OnTwoLanes) -> str:
    """The stack in the grammar, or in the same form with the names of its levels, if one has no spec."""
    text = plan_text(profile, what.plan)
    keys = "".join(f"@{name}={value}" for name, value in ((WITH.name, what.schedule), *what.keys))
    try:
        *below, target = parse(text)
    except StackError:
        return text + keys
    return format_stack([*below, with_schedule(target, what)])


def with_schedule(target: LevelSpec, what: OnTwoLanes) -> LevelSpec:
    """The target's spec with its schedule."""
    return target.having(**{WITH.name: what.schedule}, **dict(what.keys))


def needs_target(profile: Profile, below: Sequence[int]) -> str:
    """The name of the level that reads the target's last states, so that it cannot work at the same time; else "".

    A copy of the target above that level, on the drafter's lane, provides such states too.
    `stacks.prepared` refuses such a stack when it is opened.
    """
    preset = str(profile.about.get("preset", ""))
    for place, level in enumerate(below):
        spec = _spec(profile.levels[level].spec)
        copies = [_spec(profile.levels[other].spec) for other in below[place + 1 :]]
        if spec is not None and _fed(spec, preset) and not any(one and _is_copy(one) for one in copies):
            return profile.names[level]
    return ""


def _spec(text: str) -> LevelSpec | None:
    try:
        return parse(f"{text},target")[0] if text else None
    except StackError:
        return None


def _is_copy(spec: LevelSpec) -> bool:
    """Whether a level is a copy of the target with all layers."""
    reads = kind_of(spec).shares.reads
    return reads is not None and reads.depth is None


def _fed(spec: LevelSpec, preset: str) -> bool:
    """Whether it is a trained draft that reads target states; without @id= the first one that it can read, as on
    opening."""
    own = [draft for draft in known_drafts.shipped(preset) if reads_draft(spec, draft)]
    named = spec.get(ID)
    return next((draft.follows for draft in own if named in (None, draft.name)), False)
