"""A plan: levels of a profile with their block lengths; and its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul

from hsd_core.grammar import fan_of, followed, kind_of, rule_of, rules
from hsd_core.grammar.keys import BONUS, FUSE, GROW, MAX_NODES, POLICY, REPLACE, RULE, THETA, TREE, WITH
from hsd_core.grammar.spec import grows_by_itself, theta_of
from hsd_core.grammar.stack_text import LevelSpec, StackError, bare, format_stack, parse
from hsd_core.stacks.targets import preset_option
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import LENGTH, LONG_TEXTS, TOKENWISE, Profile

Stop = tuple[str, float]  # a stop policy and its threshold


@dataclass(frozen=True, slots=True)
class StackPlan:
    """`levels`: indices into the profile, cheapest first, ending in the target. `blocks`: T of each level below it.

    `bonus`, `rules`: of each verifier, that is of `levels[1:]`; None: all with a bonus, all `tokenwise`.
    `widths`: of the tree that the bottom level drafts, as deep as its block; empty: a chain.
    `stops`: the stop policy of each level below the target, and its threshold; None for full blocks; empty: all None.
    """

    levels: tuple[int, ...]
    blocks: tuple[int, ...]
    bonus: tuple[bool, ...] | None = None
    rules: tuple[str, ...] | None = None
    widths: tuple[int, ...] = ()
    stops: tuple[Stop | None, ...] = ()

    @property
    def nodes(self) -> int:
        """Tokens of a full block of the bottom level."""
        return sum(accumulate(self.widths, mul)) if self.widths else sum(self.blocks[:1])

    def cut(self, block: int) -> StackPlan:
        """The same plan with a bottom block at most `block` tokens deep."""
        return replace(self, blocks=(min(self.blocks[0], block), *self.blocks[1:]), widths=self.widths[:block])

    def bonus_of(self, place: int) -> bool:
        """Whether the verifier at a place of `levels` (1, 2, ...) adds a bonus token."""
        return self.bonus is None or self.bonus[place - 1]

    def rule_of(self, place: int) -> str:
        """The rule of the verifier at a place of `levels` (1, 2, ...)."""
        return TOKENWISE if self.rules is None else self.rules[place - 1]

    def stop_of(self, place: int) -> Stop | None:
        """The stop policy of the level at a place below the target; None for full blocks."""
        return self.stops[place] if self.stops else None


@dataclass(frozen=True, slots=True)
class LevelShare:
    """A level's mean share of one round of the target.

    `calls_per_round`: its forwards (one per drafted token for a bottom drafter, one per lookup for a lookup).
    `block_lengths[n]`: probability that it hands up n tokens; of the target: that n tokens are committed.
    """

    level: int
    calls_per_round: float
    ms_per_round: float
    block_lengths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """`speedup`: over plain decoding of the same target. `levels`: as in the plan."""

    ms_per_token: float
    speedup: float
    tokens_per_round: float
    levels: tuple[LevelShare, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    plan: StackPlan
    prediction: Prediction


def check_plan(profile: Profile, plan: StackPlan) -> None:
    """Checks that a plan fits a profile.

    Raises:
        ProfileError: it does not.
    """
    levels, blocks = plan.levels, plan.blocks
    rising = all(a < b for a, b in pairwise(levels))
    if not levels or levels[0] < 0 or levels[-1] != profile.target or not rising:
        raise ProfileError(
            f"plan has levels {list(levels)}; use rising indices that end in the target {profile.target}"
        )
    if len(blocks) != len(levels) - 1 or any(block < 1 for block in blocks):
        raise ProfileError(f"plan has blocks {list(blocks)}; give one length from 1 for each level below the target")
    for what, per_verifier in (("bonus", plan.bonus), ("rules", plan.rules)):
        if per_verifier is not None and len(per_verifier) != len(blocks):
            raise ProfileError(f"plan has {what} {list(per_verifier)}; give one for each level above the bottom")
    if plan.widths:
        _check_tree(profile, plan)
    if plan.stops and (len(plan.stops) != len(blocks) or plan.stops[0]):
        raise ProfileError(f"plan has stops {list(plan.stops)}; give one for each level between, None for the bottom")
    for place in range(1, len(plan.stops)):
        sure_of(profile, plan, place)
    for entry in (profile.levels[level] for level in levels[1:]):
        if entry.drafts_only:
            what = "is a lookup" if entry.is_lookup else "offers several candidates side by side"
            raise ProfileError(f"{entry.name} {what} and cannot verify; it can only be the first level")
    if profile.levels[levels[0]].beside and not judges_several(plan.rule_of(1)):
        raise ProfileError(
            f"rule {plan.rule_of(1)} judges one candidate, and {profile.names[levels[0]]} offers several side by side; "
            f"use rule {TOKENWISE}"
        )


def sure_of(profile: Profile, plan: StackPlan, place: int) -> tuple[float, float]:
    """P(a token of the level at a place is sure), P(the level above accepts a sure one); (1, 0) for full blocks.

    Raises:
        ProfileError: the profile does not know them.
    """
    if (stop := plan.stop_of(place)) is None:
        return 1.0, 0.0
    pair = plan.levels[place], plan.levels[place + 1]
    known = profile.sure.get(pair, {}).get(stop[0], ())
    for theta, share, kept in known:
        if theta == stop[1]:
            return share, kept
    names, thetas = (profile.names[i] for i in pair), ", ".join(f"{theta:g}" for theta, *_ in known)
    cure = f"use @theta= {thetas}" if known else "calibrate again"
    raise ProfileError(f"{' below '.join(names)}: the profile does not know policy {stop[0]} at {stop[1]:g}; {cure}")


def full_blocks(plan: StackPlan) -> None:
    """Checks that a plan has no stop policy.

    Raises:
        ProfileError: it has.
    """
    if any(plan.stops):
        raise ProfileError("stop policies are predicted for one text, with one level after another; leave @policy= out")


def judges_several(rule: str) -> bool:
    """Whether a rule judges several candidates for one position."""
    return rule in rules() and rules()[rule].trees


def _check_tree(profile: Profile, plan: StackPlan) -> None:
    widths, words = plan.widths, ".".join(map(str, plan.widths))
    if not plan.blocks or len(widths) != plan.blocks[0] or min(widths) < 1 or plan.nodes > MAX_NODES:
        raise ProfileError(f"tree {words}: give a number from 1 for each token of the bottom block")
    if not plan.bonus_of(1) or plan.rule_of(1) != TOKENWISE:
        raise ProfileError(f"tree {words}: predicted only under rule {TOKENWISE} with a bonus")
    below, level = plan.levels[:2]
    if profile.levels[below].beside:
        raise ProfileError(
            f"tree {words}: {profile.names[below]} offers several candidates side by side already, and profiles price "
            "either alone; leave @tree= out"
        )
    if max(widths) > (most := profile.widest(below, level)):
        cure = f"use no more than {most} side by side" if most > 1 else "calibrate again"
        raise ProfileError(
            f"tree {words}: the profile does not know how often {profile.names[level]} accepts one of {max(widths)} "
            f"tokens of {profile.names[below]}; {cure}"
        )


def stack_text(profile: Profile, plan: StackPlan) -> str:
    """The plan in the stack grammar.

    Raises:
        ProfileError: a level has no spec, or the plan does not fit the profile.
    """
    check_plan(profile, plan)
    specs = []
    for place, level in enumerate(plan.levels):
        block = plan.blocks[place] if place < len(plan.blocks) else None
        spec = replace(_spec(profile, level), block=block)
        if not place and plan.widths:
            spec = spec.having(tree=".".join(map(str, plan.widths)))
        if place:
            spec = spec.having(bonus=plan.bonus_of(place), rule=plan.rule_of(place))
        if block and (stop := plan.stop_of(place)):
            spec = spec.having(policy=stop[0], theta=stop[1])
        specs.append(spec)
    return format_stack(specs)


def has_specs(profile: Profile, plan: StackPlan) -> bool:
    """Whether every level of the plan can be named in the stack grammar."""
    return all(profile.levels[level].spec for level in plan.levels)


def plan_text(profile: Profile, plan: StackPlan) -> str:
    """The plan in the stack grammar, or in the same form with the names of its levels, if one has no spec."""
    if has_specs(profile, plan):
        return stack_text(profile, plan)
    blocks: list[int | None] = [*plan.blocks, None]
    named = zip(plan.levels, blocks, strict=True)
    return ",".join(profile.names[i] + (f":{t}" if t else "") for i, t in named)


def measured_as(spec: LevelSpec, *, bottom: bool) -> LevelSpec:
    """The spec by which a profile lists a level of a stack: `bare`, with a lookup's own tree, and for the bottom level
    with what its draft merges."""
    return bare(spec).having(fuse=spec[FUSE] if bottom else None, grow=spec[GROW] if grows_by_itself(spec) else None)


def most_sequences(profile: Profile, level: int) -> int | None:
    """The most sequences that a level offers at once; None if it has no spec, or they are the paths of its own tree.

    Raises:
        ProfileError: its spec cannot be read.
    """
    if not profile.levels[level].spec:
        return None
    spec = _spec(profile, level)
    if grows_by_itself(spec):
        return None
    fan = fan_of(spec)
    return fan[1] if fan else 1


def plan_of(profile: Profile, stack: str) -> StackPlan:
    """The plan of a stack in a profile with its levels.

    Raises:
        ProfileError: it is not a stack, a level is not in the profile, or the theory has no formula for it.
    """
    try:
        specs = parse(stack)
    except StackError as error:
        raise ProfileError(str(error)) from None
    if inner := next((spec for spec in specs[:-1] if WITH.name in spec.values), None):
        raise ProfileError(
            "the theory predicts two lanes at most, the target's and one for all levels below it; leave "
            f"@with={inner[WITH]} at {inner.name} out"
        )
    if schedule := specs[-1].values.get(WITH.name):
        raise ProfileError(f"the theory predicts levels that run one after another; leave @with={schedule} out")
    if specs[0].get(GROW) and not grows_by_itself(specs[0]):
        raise ProfileError(
            f"{format_stack(specs[:1])}: its tree gets a new shape in every round, and profiles have acceptances of "
            "fixed shapes; plan and predict with @tree= or without @grow="
        )
    specs = (specs[0], *(spec.having(fuse=None) for spec in specs[1:]))  # only the lowest level's @fuse= counts
    known = {_bare(_spec(profile, i)): i for i, level in enumerate(profile.levels) if level.spec}
    levels, blocks, decided = [], [], []
    stops = [_stop(profile, spec) if 0 < place < len(specs) - 1 else None for place, spec in enumerate(specs)]
    fixed = {POLICY.name: None, THETA.name: None}
    specs = tuple(spec.having(**fixed) if stop else spec for spec, stop in zip(specs, stops, strict=True))
    for spec in specs:
        if _bare(spec) not in known:
            raise ProfileError(f"{format_stack([spec])} is not in this profile{_cure(profile, specs, spec)}")
        levels.append(known[_bare(spec)])
    if not all(a < b for a, b in pairwise(levels)):
        names = ", ".join(profile.levels[level].spec for level in sorted(set(levels)))
        raise ProfileError(f"each level can be used once, in the profile's order, cheapest first: {names}")
    for spec in specs[:-1]:
        block = spec.block or len(spec.widths)
        if not block:
            raise ProfileError(f"{spec.name} has no block length; write for example {spec.name}:4")
        blocks.append(block)
    for spec in specs[1:]:
        same = profile.temperature == 0 and rule_of(spec).strays is None and spec.rule not in profile.rules
        decided.append(TOKENWISE if same else spec.rule)
        profile.matrix(decided[-1])
    bonus = tuple(spec.bonus for spec in specs[1:])
    widths = specs[0].widths if max(specs[0].widths, default=1) > 1 else ()
    if widths and specs[0][REPLACE] and profile.temperature:
        raise ProfileError(
            f"{format_stack(specs[:1])}: profiles know how often one of several tokens drawn without replacement is "
            "kept; plan and predict without @replace="
        )
    plan = StackPlan(
        tuple(levels),
        tuple(blocks),
        None if all(bonus) else bonus,
        None if set(decided) <= {TOKENWISE} else tuple(decided),
        widths,
        tuple(stops[:-1]) if any(stops) else (),
    )
    check_plan(profile, plan)
    return plan


def _stop(profile: Profile, spec: LevelSpec) -> Stop | None:
    """A level's stop policy, if the profile knows one of that name."""
    theta = theta_of(spec)
    known = theta is not None and any(spec.policy in by_policy for by_policy in profile.sure.values())
    return (spec.policy, theta) if known and theta is not None else None


def _spec(profile: Profile, level: int) -> LevelSpec:
    """The level's spec, parsed."""
    entry = profile.levels[level]
    if not entry.spec:
        raise ProfileError(f"level {entry.name!r} has no spec, as it has no weights, so no stack can name it")
    top = profile.levels[profile.target].spec or "target"  # some levels are only allowed below a certain target
    try:
        spec = _first(entry.spec if level == profile.target else f"{entry.spec},{top}")
    except StackError as error:
        raise ProfileError(f"level {entry.name!r}: spec {entry.spec!r}: {error}") from None
    if fan_of(spec) and not entry.beside:
        raise ProfileError(
            f"level {entry.name!r}: {entry.spec} offers several candidates side by side, and the profile does not say "
            "how many (beside); calibrate again"
        )
    return spec


def _cure(profile: Profile, specs: Sequence[LevelSpec], missing: LevelSpec) -> str:
    """The rest of the message "is not in this profile": the reason, its levels, and the command that measures it."""
    if why := kind_of(missing).planning.unplanned(missing):
        return f"; {why.instead}"
    there = f"; its levels are {', '.join(level.spec for level in profile.levels if level.spec)}"
    if POLICY.name in missing.values:
        return f", which does not know that stop policy{there}"
    preset = f" {preset_option(str(profile.about['preset']))}" if "preset" in profile.about else ""
    levels = format_stack([measured_as(spec, bottom=not place) for place, spec in enumerate(specs)])
    length = f" --length {profile.about[LENGTH]} --prompts {LONG_TEXTS}" if LENGTH in profile.about else ""
    command = f"python -m hsd_core calibrate{preset} --levels {levels}{length} --out FILE"
    return f"{there}; {command} measures it"


@lru_cache(maxsize=256)  # a planner formats a dozen stacks of the same few levels for each answer
def _first(stack: str) -> LevelSpec:
    return parse(stack)[0]


def _bare(spec: LevelSpec) -> LevelSpec:
    """The identity of a level: its spec without the keys of drafting and verifying."""
    judging = {key.name: None for key in followed((TREE, GROW, REPLACE, RULE, BONUS))}
    own = {GROW.name: spec[GROW]} if grows_by_itself(spec) else {}
    return replace(spec, block=None).having(**{**judging, **own})
