"""The one grammar for stacks (command line, URL, file, trace) and what can be said of a stack without weights.

    level[:T][@key=value]...   joined by commas, cheapest first, the last one is the target
    ngram:4@db=cms,int8:8@policy=flush,target@rule=block

A missing T is the preset's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from hsd_core.levels.kinds import LevelSpec, StackError, fan_of, keys, kind_of, kinds, rules, setting, variants
from hsd_core.levels.kinds.keys import BLOCK, MAX_DEPTH, REPLACE, RULE, TREE, VERIFIES, K
from hsd_core.levels.kinds.kind import BELOW, LAST, REJECT, SHADES
from hsd_core.levels.kinds.spec import MAX_LEVELS, Value
from hsd_core.models.sampling import Sampling

# What a stack is refused with, here and on the page; what is wrong with a key's value, the key says.
SAYS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "stack {text} has an empty level; write for example ngram:2,int8:8,target",
        "many": "stack has {levels} levels; {most} is the most",
        "level": "unknown level {name}; levels are {known}",
        "key": "{name}: cannot read @{option}; keys are {known}, written @key=value",
        "heed": "{name}: @{key} means nothing here; its keys are {known}",
        "twice": "{name}: {key} is given twice; keep one @{key}=",
        "k": "{name}: @k belongs to the rule {rule}; write {name}@rule={rule}@k={k}",
        "replace": "{name}: @replace says how the tokens of a tree are drawn; write {name}@tree=2.1@replace=1 "
        "or leave it out",
        "last": "the last level is {name}; end the stack with target",
        "block": "{name}:{block} is the last level, which hands nothing up; write {name}",
        "below": "{name} stands below another level; it must be the last one",
        "verify": "{name} has no distribution and cannot verify; it can only be the first level",
        "branches": "{name}: rule {rule} judges one sequence, and {below} offers {count} side by side; leave "
        "@rule={rule} or @{key}={value} out",
        "deep": "{name}:{block} is {block} deep and @tree={tree} is {depth}; leave :{block} out",
        "depth": "{name} needs the number of layers that it runs; write for example {name}:2@at=4",
        "rise": "{name} at {at} stands above {where} over the same weights; exits rise in depth up the stack",
        "whole": "the whole model",
        "exit": "an exit at {at}",
    }
)
_FIELDS = frozenset(field.name for field in fields(LevelSpec))


def level_names() -> tuple[str, ...]:
    """The names that a stack may be written with."""
    return tuple(kind.name for kind in kinds().values() if kind.written is None)


def parse(text: str) -> tuple[LevelSpec, ...]:
    """Read a stack.

    Raises:
        StackError: the text is no stack; the message says which level is wrong and how to mend it.
    """
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(parts):
        raise _fault("empty", text=repr(text))
    if len(parts) > MAX_LEVELS:
        raise _fault("many", levels=len(parts), most=MAX_LEVELS)
    specs = tuple(_parse_level(part) for part in parts)
    check_order(specs)
    return specs


def check_order(specs: Sequence[LevelSpec]) -> None:
    """What holds of every stack, whatever its weights. A dtype that is left out is taken for one of its own.

    Raises:
        StackError: a level stands where it cannot work.
    """
    *below, last = specs
    if kind_of(last).stands == BELOW:
        raise _fault("last", name=repr(last.name))
    if last.block is not None:
        raise _fault("block", name=last.name, block=last.block)
    for spec in below:
        if kind_of(spec).stands == LAST:
            raise _fault("below", name=spec.name)
    for spec in specs[1:]:
        if not kind_of(spec).verifies:
            raise _fault("verify", name=spec.name)
    _check_branches(specs)
    _check_depths(below, last)
    for spec in specs:
        _check_written(spec, specs)


def _check_branches(specs: Sequence[LevelSpec]) -> None:
    """Some rules judge chains alone, and the bottom level may offer a tree to the one above it."""
    below, *above = specs
    if not above or rules()[above[0].rule].trees or not (fan := fan_of(below)):
        return
    key, count = fan
    judge, value = above[0], key.write(setting(below, key.name) or count)
    raise _fault("branches", name=judge.name, rule=judge.rule, below=below.name, count=count, key=key.name, value=value)


def _check_depths(below: Sequence[LevelSpec], target: LevelSpec) -> None:
    """Levels over the same weights read them ever deeper."""
    deepest: dict[str | None, int] = {}
    for spec in below:
        reads = kind_of(spec).reads
        if reads is None or reads.depth == 0:
            continue
        weights = reads.weights or spec.dtype or target.dtype
        if reads.depth is None:
            deepest[weights] = MAX_DEPTH + 1
            continue
        at = spec.value(str(reads.depth))
        if not isinstance(at, int):
            raise _fault("depth", name=spec.name)
        if at <= (reached := deepest.get(weights, 0)):
            where = SAYS["whole"] if reached > MAX_DEPTH else SAYS["exit"].format(at=reached)
            raise _fault("rise", name=spec.name, at=at, where=where)
        deepest[weights] = at


def _check_written(spec: LevelSpec, specs: Sequence[LevelSpec]) -> None:
    """A kind that is written as another one stands alone below the target whose weights it reads."""
    for _, own in variants():
        if spec.value(own.key) != own.value:
            continue
        if spec.name != own.name or len(specs) != 2 or (spec.dtype or specs[-1].dtype) != specs[-1].dtype:
            raise StackError(f"{spec.name}: {own.wrong}")
        for key, why in own.without.items():
            if spec.value(key) != keys()[key].default:
                raise StackError(f"{spec.name}: {why}")


def bare(spec: LevelSpec) -> LevelSpec:
    """What a level is, wherever it stands: without T, stop policy and rule, but for one that makes it another kind."""
    usual, own = LevelSpec(spec.name), kind_of(spec).written
    of_place = {key.name: usual.value(key.name) for key in VERIFIES if own is None or key.name != own.key}
    return replace(spec, block=None, **of_place)  # type: ignore[arg-type]


def format_stack(specs: Sequence[LevelSpec]) -> str:
    """The inverse of `parse`; keys at their default are left out."""
    return ",".join(_format_level(spec) for spec in specs)


def grammar() -> dict[str, Any]:
    """All kinds and keys, and what a stack is refused with, for the page; plain JSON types, no weights needed."""
    return {
        "kinds": [kind.as_dict() for kind in kinds().values()],
        "keys": [key.as_dict() for key in keys().values()],
        "block": BLOCK.as_dict(),
        "chains_only": [rule.name for rule in rules().values() if not rule.trees],
        "most_levels": MAX_LEVELS,
        "says": dict(SAYS),
        "reject": {"light": REJECT.light, "dark": REJECT.dark},
        "shades": SHADES,
    }


class Exactness(NamedTuple):
    """Whether a stack's output follows the target's law, and why. True in a condition when it does."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


def stack_lossless(specs: Sequence[LevelSpec], sampling: Sampling) -> Exactness:
    """Whether the whole stack's output follows the target's law under this sampling, and why.

    Losslessness belongs to the stack and its sampling, not to a rule: a greedy target is exact over
    anything, while above temperature 0 one inner level whose emitted law is not the row it hands up is enough to
    spoil the output.
    """
    if len(specs) == 1:
        return Exactness(True, "plain decoding of the target")
    if sampling.greedy:
        rule, k = rules()[specs[-1].rule], specs[-1].k or 1
        if rule.k and k > 1:
            return Exactness(False, f"the target accepts any of its {k} likeliest tokens (rule {rule.name})")
        if not rule.greedy:
            return Exactness(False, f"the target commits other tokens than its own first choice (rule {rule.name})")
        return Exactness(True, "greedy: every committed token is the target's own first choice")
    for lossy in (name for name, rule in rules().items() if not rule.lossless):
        named = ", ".join(f"level {i} ({spec.name})" for i, spec in enumerate(specs) if i > 0 and spec.rule == lossy)
        if named:
            return Exactness(False, f"{named}: rule {lossy} does not draw from the verifier's law at temperature > 0")
    return Exactness(True, "every rejected token is corrected from its verifier's residual")


def _parse_level(part: str) -> LevelSpec:
    head, *options = part.split("@")
    name, colon, block = head.partition(":")
    if name not in level_names():
        raise _fault("level", name=repr(name), known=", ".join(level_names()))
    heeded = [key.name for key in kinds()[name].keys]
    values: dict[str, Value] = {}
    if colon:
        values["block"] = BLOCK.read(block, name)
    for option in options:
        key, equals, value = option.partition("=")
        if key not in keys() or not equals or not value:
            raise _fault("key", name=name, option=option, known=", ".join(keys()))
        if key not in heeded:
            raise _fault("heed", name=name, key=key, known=", ".join(heeded))
        if key in values:
            raise _fault("twice", name=name, key=key)
        values[key] = keys()[key].read(value, name)
    with_k = [rule.name for rule in rules().values() if rule.k]
    if K.name in values and values.get(RULE.name) not in with_k:
        raise _fault("k", name=name, rule=with_k[0], k=values[K.name])
    if values.get(REPLACE.name) and TREE.name not in values:
        raise _fault("replace", name=name)
    tree = LevelSpec(name, tree=str(values[TREE.name])).widths if TREE.name in values else ()
    if tree and values.get("block", len(tree)) != len(tree):
        raise _fault("deep", name=name, block=values["block"], tree=values[TREE.name], depth=len(tree))
    own = tuple(sorted((key, value) for key, value in values.items() if key not in _FIELDS))
    return LevelSpec(name, own=own, **{key: value for key, value in values.items() if key in _FIELDS})  # type: ignore[arg-type]


def _format_level(spec: LevelSpec) -> str:
    text = spec.name + (f":{spec.block}" if spec.block is not None else "")
    for name, key in keys().items():
        value = spec.value(name)
        if value not in (None, key.default, kind_of(spec).usual.get(name)):
            text += f"@{name}={key.write(value)}"
    return text


def _fault(what: str, **values: object) -> StackError:
    return StackError(SAYS[what].format(**values))
