"""The one grammar for stacks (command line, URL, file, trace) and what can be said of a stack without weights.

    level[:T][@key=value]...   joined by commas, cheapest first, the last one is the target
    ngram:4@db=cms,int8:8@policy=flush,target@rule=block

A missing T is the preset's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hsd_core.decoders.protocol import QUANTISED
from hsd_core.policies import DEFAULT_THETA, POLICIES
from hsd_core.sampling import Sampling

MAX_BLOCK = 64
MAX_LEVELS = 8
RULE_NAMES = ("greedy", "tokenwise", "block", "top")
LEVEL_NAMES = ("ngram", "nano", "exit", *QUANTISED, "model", "table", "target")
_KEYS = ("at", "policy", "theta", "rule", "k", "db", "miss", "dtype", "device", "bonus", "id")
MAX_DEPTH = 512  # layers; no model here comes near it
MAX_TOP = 64  # k of the rule top
# What each kind of level heeds somewhere in a stack; other keys are refused. A key that means nothing where the level
# stands now (a rule at the bottom, a theta under the policy fixed) is kept: levels are moved, and come back with it.
HEEDS = {
    "ngram": ("policy", "theta", "db", "miss"),
    "nano": ("policy", "theta", "rule", "k", "bonus", "id"),
    "exit": ("at", "policy", "theta", "rule", "k", "bonus", "dtype", "id"),
    **dict.fromkeys(QUANTISED, ("policy", "theta", "rule", "k", "bonus", "device")),
    "model": ("policy", "theta", "rule", "k", "bonus", "dtype", "device", "id"),
    "table": ("policy", "theta", "rule", "k", "bonus", "id"),
    "target": ("policy", "theta", "rule", "k", "bonus", "dtype", "device"),
}
_DTYPES = ("float32", "bfloat16", *QUANTISED)


class StackError(ValueError):
    """A stack that cannot be read or built; the message names the cure."""


@dataclass(frozen=True, slots=True)
class LevelSpec:
    """One level as written. `block` (T) is None where the preset's is meant, and for the target. `at`: layers.

    `k`: how many of its likeliest tokens a verifier with rule top accepts; None means 1.
    """

    name: str
    block: int | None = None
    at: int | None = None
    policy: str = "fixed"
    theta: float | None = None
    rule: str = "tokenwise"
    k: int | None = None
    bonus: bool = True
    db: str | None = None
    miss: str | None = None
    dtype: str | None = None
    device: str | None = None
    id: str | None = None


def parse(text: str) -> tuple[LevelSpec, ...]:
    """Read a stack.

    Raises:
        StackError: the text is no stack; the message says which level is wrong and how to mend it.
    """
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(parts):
        raise StackError(f"stack {text!r} has an empty level; write for example ngram:2,int8:8,target")
    if len(parts) > MAX_LEVELS:
        raise StackError(f"stack has {len(parts)} levels; {MAX_LEVELS} is the most")
    specs = tuple(_parse_level(part) for part in parts)
    check_order(specs)
    return specs


def check_order(specs: Sequence[LevelSpec]) -> None:
    """What holds of every stack, whatever its weights. A dtype that is left out is taken for one of its own.

    Raises:
        StackError: a level stands where it cannot work.
    """
    *below, last = specs
    if last.name not in ("target", "table"):
        raise StackError(f"the last level is {last.name!r}; end the stack with target")
    if last.block is not None:
        raise StackError(f"{last.name}:{last.block} is the last level, which hands nothing up; write {last.name}")
    if any(spec.name == "target" for spec in below):
        raise StackError("target stands below another level; it must be the last one")
    for spec in specs[1:]:
        if spec.name == "ngram":
            raise StackError("ngram has no distribution and cannot verify; it can only be the first level")
    _check_exits(below, last)
    for spec in specs:
        one_model = len(specs) == 2 and spec.name == "exit" and (spec.dtype or last.dtype) == last.dtype
        if spec.policy == "del" and not one_model:
            raise StackError(
                f"{spec.name}: policy del chooses an exit of the target right above it; "
                "write exit:6@at=8@policy=del,target"
            )
        if spec.policy == "del" and spec.id is not None:
            raise StackError(f"{spec.name}: policy del chooses among all trained exits up to @at=; leave @id= out")


def _check_exits(below: Sequence[LevelSpec], target: LevelSpec) -> None:
    """Levels over the same weights read them ever deeper."""
    deepest: dict[str | None, int] = {}
    for spec in below:
        if spec.name == "exit":
            if spec.at is None:
                raise StackError("exit needs the number of layers that it runs; write for example exit:2@at=4")
            weights = spec.dtype or target.dtype
            if spec.at <= (reached := deepest.get(weights, 0)):
                where = "the whole model" if reached > MAX_DEPTH else f"an exit at {reached}"
                raise StackError(
                    f"exit at {spec.at} stands above {where} over the same weights; exits rise in depth up the stack"
                )
            deepest[weights] = spec.at
        elif spec.name in QUANTISED:
            deepest[spec.name] = MAX_DEPTH + 1


def format_stack(specs: Sequence[LevelSpec]) -> str:
    """The inverse of `parse`; keys at their default are left out."""
    return ",".join(_format_level(spec) for spec in specs)


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
        if specs[-1].rule == "top" and (specs[-1].k or 1) > 1:
            return Exactness(False, f"the target accepts any of its {specs[-1].k} likeliest tokens (rule top)")
        return Exactness(True, "greedy: every committed token is the target's own first choice")
    for rule in ("greedy", "top"):
        named = ", ".join(f"level {i} ({spec.name})" for i, spec in enumerate(specs) if i > 0 and spec.rule == rule)
        if named:
            return Exactness(False, f"{named}: rule {rule} does not draw from the verifier's law at temperature > 0")
    return Exactness(True, "every rejected token is corrected from its verifier's residual")


def _parse_level(part: str) -> LevelSpec:
    head, *options = part.split("@")
    name, colon, block = head.partition(":")
    if name not in LEVEL_NAMES:
        raise StackError(f"unknown level {name!r}; levels are {', '.join(LEVEL_NAMES)}")
    values: dict[str, object] = {"name": name}
    if colon:
        values["block"] = _whole(block, f"{name}: block length", 1, MAX_BLOCK)
    for option in options:
        key, equals, value = option.partition("=")
        if key not in _KEYS or not equals or not value:
            raise StackError(f"{name}: cannot read @{option}; keys are {', '.join(_KEYS)}, written @key=value")
        if key not in HEEDS[name]:
            raise StackError(f"{name}: @{key} means nothing here; its keys are {', '.join(HEEDS[name])}")
        if key in values:
            raise StackError(f"{name}: {key} is given twice; keep one @{key}=")
        values[key] = _value(name, key, value)
    if values.get("k") and values.get("rule") != "top":
        raise StackError(f"{name}: @k belongs to the rule top; write {name}@rule=top@k={values['k']}")
    return LevelSpec(**values)  # type: ignore[arg-type]


def _value(name: str, key: str, value: str) -> object:
    where = f"{name}: {key}"
    if key == "bonus":
        return bool(_whole(value, where, 0, 1))
    if key == "at":
        return _whole(value, f"{where} (layers)", 1, MAX_DEPTH)
    if key == "k":
        return _whole(value, where, 1, MAX_TOP)
    if key == "theta":
        try:
            theta = float(value)
        except ValueError:
            theta = -1.0
        if not 0.0 <= theta <= 1.0:
            raise StackError(f"{where} is {value!r}; use a probability from 0 to 1, such as {DEFAULT_THETA}")
        return theta
    if key == "db":
        if not value or set(value) - set("cms") or len(set(value)) != len(value):
            raise StackError(f"{where} is {value!r}; use the letters c, m and s, each at most once, in order of lookup")
        return value
    choices = {"policy": tuple(POLICIES), "rule": RULE_NAMES, "dtype": _DTYPES}.get(key)
    if choices is not None and value not in choices:
        raise StackError(f"{where} is {value!r}; use one of {', '.join(choices)}")
    return value


def _whole(text: str, what: str, low: int, high: int) -> int:
    # The length first: int() refuses very long texts with an error of its own.
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise StackError(f"{what} is {text!r}; use a whole number from {low} to {high}")
    return int(text)


def _format_level(spec: LevelSpec) -> str:
    text = spec.name + (f":{spec.block}" if spec.block is not None else "")
    default = LevelSpec(spec.name)
    for key in _KEYS:
        value = getattr(spec, key)
        if value != getattr(default, key):
            text += f"@{key}={int(value) if key == 'bonus' else _short_number(value) if key == 'theta' else value}"
    return text


def _short_number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
