"""The one grammar for stacks (command line, URL, file, trace) and what can be said of a stack without weights.

    level[:T][@key=value]...   joined by commas, cheapest first, the last one is the target
    ngram:4@db=cms,int8:8@policy=flush,target@rule=block

A missing T is the preset's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from hsd_core.levels.declared.keys import BLOCK, DTYPE, MAX_DEPTH, MAX_LEVELS, REPLACE, RULE, TREE, VERIFIES
from hsd_core.levels.declared.kind import BELOW, LAST, REJECT, SHADES
from hsd_core.levels.declared.said import JOINTS
from hsd_core.levels.kinds import (
    LevelSpec,
    StackError,
    Value,
    fan_of,
    followed,
    keys,
    kind_of,
    kinds,
    rule_of,
    rules,
    variants,
)
from hsd_core.models.sampling import Sampling

# What a stack is refused with; what is wrong with a key's value, the key says.
SAYS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "stack {text} has an empty level; write for example ngram:2,int8:8,target",
        "many": "stack has {levels} levels; {most} is the limit",
        "level": "unknown level {name}; levels are {known}",
        "key": "{name}: cannot read @{option}; keys are {known}, written @key=value",
        "heed": "{name}: @{key} means nothing here; its keys are {known}",
        "twice": "{name}: {key} is given twice; keep one @{key}=",
        "belongs": "{name}: @{key} belongs to the rule {rule}; write {name}@rule={rule}@{key}={value}",
        "instead": "{name}: @{key} and @{other} both say what its tree is like; leave one of them out",
        "replace": "{name}: @replace says how the tokens of a tree are drawn; write {name}@tree=2.1@replace=1 "
        "or leave it out",
        "last": "the last level is {name}; end the stack with target",
        "block": "{name}:{block} is the last level, which hands nothing up; write {name}",
        "below": "{name} stands below another level; it must be the last one",
        "verify": "{name} has no distribution and cannot verify; it can only be the first level",
        "branches": "{name}: rule {rule} judges one candidate, and {below} offers {count} side by side; leave "
        "@rule={rule} or @{key}={value} out",
        "deep": "{name}:{block} is {block} deep and @tree={tree} is {depth}; leave :{block} out",
        "depth": "{name} needs the number of layers that it runs; write for example {name}:2@at=4",
        "rise": "{name} at {at} stands above {where} over the same weights; exits rise in depth up the stack",
        "whole": "the whole model",
        "exit": "an exit at {at}",
    }
)


def level_names() -> tuple[str, ...]:
    """The names that a stack may be written with."""
    return tuple(kind.name for kind in kinds().values() if kind.written is None)


def parse(text: str) -> tuple[LevelSpec, ...]:
    """Read a stack.

    Raises:
        StackError: the text is not a stack; the message says which level is wrong and how to mend it.
    """
    specs = tuple(level_of(part) for part in _parts(text))
    check_order(specs)
    return specs


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(parts):
        raise _fault("empty", text=repr(text))
    if len(parts) > MAX_LEVELS:
        raise _fault("many", levels=len(parts), most=MAX_LEVELS)
    return parts


class Fault(NamedTuple):
    """What speaks against a level of a stack, wherever its weights come from: its place, cheapest first, and why."""

    level: int
    reason: str


def faults(text: str) -> list[Fault]:
    """What speaks against each level of a stack, the first reason of each; against the first level where the text is no
    list of levels. Where levels stand is looked at when each of them can be read."""
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
    for level, fault in () if found else _misplaced(specs):
        found.setdefault(level, str(fault))
    return [Fault(level, found[level]) for level in sorted(found)]


def check_order(specs: Sequence[LevelSpec]) -> None:
    """What holds of every stack, whatever its weights. A dtype that is left out is taken for one of its own.

    Raises:
        StackError: a level stands where it cannot work.
    """
    for _, error in _misplaced(specs):
        raise error


def _misplaced(specs: Sequence[LevelSpec]) -> Iterator[tuple[int, StackError]]:
    """The levels that stand where they cannot work, and why."""
    *below, last = specs
    if kind_of(last).stands == BELOW:
        yield len(below), _fault("last", name=repr(last.name))
    if last.block is not None:
        yield len(below), _fault("block", name=last.name, block=last.block)
    for i, spec in enumerate(below):
        if kind_of(spec).stands == LAST:
            yield i, _fault("below", name=spec.name)
    for i, spec in enumerate(specs):
        if i and not kind_of(spec).verifies:
            yield i, _fault("verify", name=spec.name)
    yield from _check_branches(specs)
    yield from _check_depths(below, last)
    for i, spec in enumerate(specs):
        yield from ((i, error) for error in _check_written(spec, specs))


def _check_branches(specs: Sequence[LevelSpec]) -> Iterator[tuple[int, StackError]]:
    """Some rules judge chains alone, and the bottom level may offer a tree to the one above it."""
    below, *above = specs
    if not above or rule_of(above[0]).trees or not (fan := fan_of(below)):
        return
    key, count = fan
    judge, value = above[0], key.write(below[key])
    of = {"name": judge.name, "rule": judge.rule, "below": below.name}
    yield 1, _fault("branches", **of, count=count, key=key.name, value=value)


def _check_depths(below: Sequence[LevelSpec], target: LevelSpec) -> Iterator[tuple[int, StackError]]:
    """Levels over the same weights read them ever deeper."""
    deepest: dict[str | None, int] = {}
    for i, spec in enumerate(below):
        reads = kind_of(spec).reads
        if reads is None or reads.depth == 0:
            continue
        weights = reads.weights or spec.get(DTYPE) or target.get(DTYPE)
        if reads.depth is None:
            deepest[weights] = MAX_DEPTH + 1
            continue
        at = spec.values.get(str(reads.depth))
        if not isinstance(at, int):
            yield i, _fault("depth", name=spec.name)
            continue
        if at <= (reached := deepest.get(weights, 0)):
            where = SAYS["whole"] if reached > MAX_DEPTH else SAYS["exit"].format(at=reached)
            yield i, _fault("rise", name=spec.name, at=at, where=where)
        deepest[weights] = max(reached, at)


def _check_written(spec: LevelSpec, specs: Sequence[LevelSpec]) -> Iterator[StackError]:
    """A kind that is written as another one stands alone below the target whose weights it reads."""
    for _, own in variants():
        if spec.values.get(own.key) != own.value:
            continue
        dtype = specs[-1].get(DTYPE)
        if spec.name != own.name or len(specs) != 2 or (spec.get(DTYPE) or dtype) != dtype:
            yield StackError(f"{spec.name}: {own.wrong}")
        for key, why in own.without.items():
            if key in spec.values and spec.values[key] != own.takes.get(key):
                yield StackError(f"{spec.name}: {why}")


def bare(spec: LevelSpec) -> LevelSpec:
    """What a level is, wherever it stands: without T, stop policy and rule, but for one that makes it another kind."""
    own = kind_of(spec).written
    of_place = {key.name: None for key in followed(VERIFIES) if own is None or key.name != own.key}
    return replace(spec, block=None).having(**of_place)


def format_stack(specs: Sequence[LevelSpec]) -> str:
    """The inverse of `parse`; keys at their default are left out."""
    return ",".join(_format_level(spec) for spec in specs)


def grammar() -> dict[str, Any]:
    """All kinds and keys, for the page; plain JSON types, no weights needed."""
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
    """Whether a stack's output follows the target's distribution, and why. True in a condition when it does."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


def stack_lossless(specs: Sequence[LevelSpec], sampling: Sampling) -> Exactness:
    """Whether the whole stack's output follows the target's distribution under this sampling, and why.

    Losslessness belongs to the stack and its sampling, not to a rule: a greedy target is exact over
    anything, while above temperature 0 one inner level whose emitted distribution is not the row it hands up is enough
    to spoil the output.
    """
    if len(specs) == 1:
        return Exactness(True, "plain decoding of the target")
    if sampling.greedy:
        rule = rule_of(specs[-1])
        if strays := rule.astray(specs[-1].values):
            return Exactness(False, f"the target {strays} (rule {rule.name})")
        return Exactness(True, "greedy: every committed token is the target's own first choice")
    for lossy in (name for name, rule in rules().items() if not rule.lossless):
        named = ", ".join(f"level {i} ({spec.name})" for i, spec in enumerate(specs) if i > 0 and spec.rule == lossy)
        if named:
            return Exactness(
                False, f"{named}: rule {lossy} does not draw from the verifier's distribution at temperature > 0"
            )
    return Exactness(True, "every rejected token is corrected from its verifier's residual")


def level_of(part: str) -> LevelSpec:
    """Read one level, wherever it stands.

    Raises:
        StackError: the text is not a level.
    """
    head, *options = part.split("@")
    name, colon, block = head.partition(":")
    if name not in level_names():
        raise _fault("level", name=repr(name), known=", ".join(level_names()))
    heeded = [key.name for key in kinds()[name].keys]
    values: dict[str, Value] = {}
    t = BLOCK.read(block, name) if colon else None
    for option in options:
        key, equals, value = option.partition("=")
        if key not in keys() or not equals or not value:
            raise _fault("key", name=name, option=option, known=", ".join(keys()))
        if key not in heeded:
            raise _fault("heed", name=name, key=key, known=", ".join(heeded))
        if key in values:
            raise _fault("twice", name=name, key=key)
        values[key] = keys()[key].read(value, name)
    for key, found in values.items():
        choice, chosen = keys()[key].when or ("", ())
        if choice == RULE.name and values.get(RULE.name, RULE.usual) not in chosen:
            raise _fault("belongs", name=name, key=key, rule=chosen[0], value=found)
        if (other := keys()[key].instead) in values:
            raise _fault("instead", name=name, key=key, other=other)
    if values.get(REPLACE.name) and not any(key in values for key in REPLACE.of):
        raise _fault("replace", name=name)
    spec = LevelSpec(name, t, values)
    depth = len(spec.widths)
    if depth and spec.block not in (None, depth):
        raise _fault("deep", name=name, block=spec.block, tree=spec[TREE], depth=depth)
    return spec


def _format_level(spec: LevelSpec) -> str:
    text = spec.name + (f":{spec.block}" if spec.block is not None else "")
    return text + "".join(
        f"@{name}={key.write(spec.values[name])}" for name, key in keys().items() if name in spec.values
    )


def _fault(what: str, **values: object) -> StackError:
    return StackError(SAYS[what].format(**values))
