"""The grammar of stacks (command line, URL, file, trace) and what is known of a stack without weights.

    level[:T][@key=value]...   joined by commas, cheapest first, the last one is the target
    ngram:4@db=cms,int8:8@policy=flush,target@rule=block

A missing T is the preset's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from hsd_core.grammar import LevelSpec, StackError, Value, followed, key_of, keys, kind_of, kinds, rule_of, rules
from hsd_core.grammar.key import Choice
from hsd_core.grammar.keys import BLOCK, MAX_LEVELS, REPLACE, RULE, TREE, VERIFIES, WITH
from hsd_core.grammar.kind import JOINTS, REJECT, SHADES
from hsd_core.grammar.placing import check_order, fault, misplaced
from hsd_core.models.sampling import Sampling


def level_names() -> tuple[str, ...]:
    """The names of levels in stacks."""
    return tuple(kind.name for kind in kinds().values() if kind.written is None)


def parse(text: str) -> tuple[LevelSpec, ...]:
    """Read a stack.

    Raises:
        StackError: the text is not a stack; the message names the level and the cure.
    """
    specs = tuple(level_of(part) for part in _parts(text))
    check_order(specs)
    return specs


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(parts):
        raise fault("empty", text=repr(text))
    if len(parts) > MAX_LEVELS:
        raise fault("many", levels=len(parts), most=MAX_LEVELS)
    return parts


class Fault(NamedTuple):
    """An error of one level of a stack that does not depend on weights: the level's index, cheapest first, and why."""

    level: int
    reason: str


def faults(text: str) -> list[Fault]:
    """The first error of each level of a stack; of the first level if the text is not a list of levels. Positions are
    checked if all levels can be read."""
    try:
        parts = _parts(text)
    except StackError as error:
        return [Fault(0, str(error))]
    specs, found = [], {}
    for i, part in enumerate(parts):
        try:
            specs.append(level_of(part))
        except StackError as error:
            found[i] = str(error)
    for level, why in () if found else misplaced(specs):
        found.setdefault(level, str(why))
    return [Fault(level, found[level]) for level in sorted(found)]


def bare(spec: LevelSpec) -> LevelSpec:
    """A level without what depends on its position: T, stop policy and rule, except a policy that is its kind."""
    own = kind_of(spec).written
    apart = {key.name for key in kind_of(spec).keys if key.when is None and keys()[key.name].when}
    apart |= {own.key} if own else set()
    of_place = {key.name: None for key in followed(VERIFIES) if key.name not in apart}
    return replace(spec, block=None).having(**of_place)


def plain_target(spec: LevelSpec) -> LevelSpec:
    """Plain decoding of the model that a target runs, or that it approximates."""
    return bare(kind_of(spec).planning.plain(spec))


def format_stack(specs: Sequence[LevelSpec]) -> str:
    """The inverse of `parse`; defaults are left out."""
    return ",".join(_format_level(spec) for spec in specs)


def grammar() -> dict[str, Any]:
    """All kinds and keys in plain JSON types, for the page. Needs no weights."""
    return {
        "kinds": [kind.as_dict(keys()) for kind in kinds().values()],
        "keys": [key.as_dict() for key in keys().values()],
        "block": BLOCK.as_dict(),
        "most_levels": MAX_LEVELS,
        "reject": {"light": REJECT.light, "dark": REJECT.dark},
        "shades": SHADES,
        "joints": dict(JOINTS),
    }


class Exactness(NamedTuple):
    """Whether a stack's output follows the target's distribution, and why. Its truth value is `holds`."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


def stack_lossless(specs: Sequence[LevelSpec], sampling: Sampling) -> Exactness:
    """Whether the whole stack's output follows the target's distribution under this sampling, and why.

    Losslessness is a property of the stack and its sampling, not of a rule. A greedy target is exact over any draft.
    Above temperature 0 a single inner level that emits tokens from another distribution than the row it hands up makes
    the stack inexact.
    """
    if strays := kind_of(specs[-1]).planning.strays(specs[-1]):
        return Exactness(False, f"the target {strays}")
    if len(specs) == 1:
        return Exactness(True, "plain decoding of the target")
    if strays := rule_of(specs[-1]).astray(specs[-1].values):
        return Exactness(False, f"the target {strays} (rule {rule_of(specs[-1]).name})")
    if sampling.greedy:
        return Exactness(True, "greedy: every committed token is the target's own first choice")
    if (top := rule_of(specs[-1])).rowless and top.lossless:  # over any draft, which only affects the speed
        return Exactness(True, f"the target draws every token from its own distribution (rule {top.name})")
    for i, spec in enumerate(specs[1:-1], 1):
        if strays := rule_of(spec).astray(spec.values):
            return Exactness(False, f"level {i} ({spec.name}) {strays} (rule {spec.rule})")
    for lossy in (name for name, rule in rules().items() if not rule.lossless):
        named = ", ".join(f"level {i} ({spec.name})" for i, spec in enumerate(specs) if i > 0 and spec.rule == lossy)
        if named:
            return Exactness(
                False, f"{named}: rule {lossy} does not draw from the verifier's distribution at temperature > 0"
            )
    for i, (spec, judge) in enumerate(pairwise(specs), 1):
        for key in kind_of(spec).keys:
            inexact = key.inexact.get(str(spec.get(key))) if isinstance(key, Choice) else None
            if inexact and not rule_of(judge).rowless:
                return Exactness(False, f"level {i} ({judge.name}) {inexact} ({spec.name}@{key.name}={spec[key]})")
    return Exactness(True, "every rejected token is corrected from its verifier's residual")


def level_of(part: str) -> LevelSpec:
    """Read one level, without a check of its position.

    Raises:
        StackError: the text is not a level.
    """
    head, *options = part.split("@")
    name, colon, block = head.partition(":")
    if name not in level_names():
        raise fault("level", name=repr(name), known=", ".join(level_names()))
    heeded = [key.name for key in kinds()[name].keys]
    values: dict[str, Value] = {}
    t = BLOCK.read(block, name) if colon else None
    for option in options:
        key, equals, value = option.partition("=")
        if key not in keys() or not equals or not value:
            raise fault("key", name=name, option=option, known=", ".join(keys()))
        if key not in heeded:
            raise fault("heed", name=name, key=key, known=", ".join(heeded))
        if key in values:
            raise fault("twice", name=name, key=key)
        values[key] = key_of(name, key).read(value, name)
    for key, found in values.items():
        choice, chosen = key_of(name, key).when or ("", ())
        if choice == RULE.name and values.get(RULE.name, RULE.usual) not in chosen:
            raise fault("belongs", name=name, key=key, rule=chosen[0], value=found)
        if choice == WITH.name and values.get(WITH.name, WITH.usual) not in chosen:
            raise fault("timed", name=name, key=key, schedule=chosen[0], value=found)
        if (other := keys()[key].instead) in values:
            raise fault("instead", name=name, key=key, other=other)
    if values.get(REPLACE.name) and not any(key in values for key in REPLACE.of):
        raise fault("replace", name=name)
    spec = LevelSpec(name, t, values)
    depth = len(spec.widths)
    if depth and spec.block not in (None, depth):
        raise fault("deep", name=name, block=spec.block, tree=spec[TREE], depth=depth)
    return spec


def _format_level(spec: LevelSpec) -> str:
    text = spec.name + (f":{spec.block}" if spec.block is not None else "")
    return text + "".join(
        f"@{name}={key.write(spec.values[name])}" for name, key in keys().items() if name in spec.values
    )
