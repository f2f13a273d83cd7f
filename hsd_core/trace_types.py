"""Type checks for events that come from a file: what a reader may rely on.

The page, the charts and the metrics index lists by level and count by id; a file from a stranger must not be able
to put text, a missing level or more than a run can hold there.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

from hsd_core import trace

MAX_LEVELS = 64
MAX_ENTRIES = 4096  # of one free object (a level's parameters, a profile, ...), with all that is nested in it
MAX_DEPTH = 8  # of objects and lists in it
MAX_INT = 2**63 - 1
_LEVELS = ("level", "levels", "below", "passed", "shares")
_PARALLEL = (
    ("serials", "ids", "sources", "q", "confidence"),
    ("ids", "probs"),
    ("at", "readouts", "p", "top"),
)
_PLAIN: dict[Any, set[type]] = {int: {int}, float: {int, float}, str: {str}}
Check = Callable[[Any, int], None]  # of a value, in a stack of so many levels


class _Wrong(ValueError):
    """A value of another type; `where` grows from the value outwards as the error passes through what holds it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.where = ""

    def inside(self, part: str) -> _Wrong:
        self.where = part + self.where
        return self


def check_types(event: trace.Event, levels: int) -> None:
    """Check every field of an event against its annotation, and that it speaks of one of the stack's `levels`.

    Raises:
        ValueError: a field has another type than the schema says, a level is missing, a free object is too large, or
            lists that run side by side differ in length; the message names it.
    """
    try:
        _fields_of(type(event))(event, levels)  # type: ignore[arg-type]
    except _Wrong as wrong:
        raise ValueError(f"{event.event}{wrong.where}: {wrong}") from None


def check_stack(header: trace.Header) -> None:
    """Check that the header's levels are numbered from 0 without a gap, so that a number finds its level.

    Raises:
        ValueError: they are not, or are more than `MAX_LEVELS`.
    """
    if len(header.levels) > MAX_LEVELS:
        raise ValueError(f"header.levels: {len(header.levels)} levels; at most {MAX_LEVELS} can be shown")
    numbers = [level.index for level in header.levels]
    if not numbers or numbers != list(range(len(numbers))):
        raise ValueError(f"header.levels: expected levels numbered 0, 1, ..., got {numbers}")


@cache
def _fields_of(cls: type) -> Check:
    hints = typing.get_type_hints(cls, vars(trace))
    checks = [(f.name, _check_of(hints[f.name]), f.name in _LEVELS) for f in dataclasses.fields(cls)]
    parallel = [names for names in _PARALLEL if set(names) <= {name for name, _, _ in checks}]

    def check(value: Any, levels: int) -> None:
        for name, check_field, names_level in checks:
            held = getattr(value, name)
            try:
                check_field(held, levels)
                if names_level:
                    _check_levels(held, levels)
            except _Wrong as wrong:
                raise wrong.inside(f".{name}") from None
        for names in parallel:
            if len({len(getattr(value, name)) for name in names}) > 1:
                raise _Wrong(f"{', '.join(names)} differ in length")

    return check


def _check_levels(held: Any, levels: int) -> None:
    for level in held if isinstance(held, tuple) else (held,):
        if isinstance(level, int) and not 0 <= level < levels:
            raise _Wrong(f"there is no level {level}; the stack has {levels}")


@cache
def _check_of(hint: Any) -> Check:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        inner = _check_of(next(arg for arg in typing.get_args(hint) if arg is not type(None)))
        return lambda value, levels: None if value is None else inner(value, levels)
    if origin is tuple:
        return _list_of(typing.get_args(hint)[0])
    if origin is dict:
        return _object_of(_check_of(typing.get_args(hint)[1]))
    if dataclasses.is_dataclass(hint):
        fields = _fields_of(hint)  # type: ignore[arg-type]

        def check(value: Any, levels: int) -> None:
            _expect(isinstance(value, hint), value, "an object")  # type: ignore[arg-type]
            fields(value, levels)

        return check
    return {float: _number, int: _whole, str: _text, bool: _truth}.get(hint, _anything)


def _list_of(hint: Any) -> Check:
    inner = _check_of(hint)
    plain = _PLAIN.get(hint)

    def check(value: Any, levels: int) -> None:
        _expect(isinstance(value, tuple), value, "a list")
        # the long lists hold plain figures: all at once, and one by one only to find what is wrong
        if plain is not None and set(map(type, value)) <= plain and (hint is str or all(map(_small, value))):
            return
        for i, item in enumerate(value):
            try:
                inner(item, levels)
            except _Wrong as wrong:
                raise wrong.inside(f"[{i}]") from None

    return check


def _object_of(inner: Check) -> Check:
    def check(value: Any, levels: int) -> None:
        _expect(isinstance(value, dict), value, "an object")
        _bounded(value)
        for key, item in value.items():
            try:
                inner(item, levels)
            except _Wrong as wrong:
                raise wrong.inside(f".{key[:80]}") from None

    return check


def _bounded(value: dict[str, Any]) -> None:
    entries, layer, depth = 0, [value], 0
    while layer:
        depth += 1
        if depth > MAX_DEPTH:
            raise _Wrong(f"nested deeper than {MAX_DEPTH}")
        below: list[Any] = []
        for part in layer:
            entries += len(part)
            if entries > MAX_ENTRIES:
                raise _Wrong(f"more than {MAX_ENTRIES} entries")
            for item in part.values() if isinstance(part, dict) else part:
                if isinstance(item, (dict, list, tuple)):
                    below.append(item)
                elif isinstance(item, (int, float)):
                    _number(int(item) if isinstance(item, bool) else item, 0)
        layer = below


def _small(value: float) -> bool:
    return -MAX_INT <= value <= MAX_INT


def _number(value: Any, _: int) -> None:
    _expect(isinstance(value, (int, float)) and not isinstance(value, bool), value, "a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise _Wrong(f"expected a finite number, got {value}")
    if isinstance(value, int) and not _small(value):
        raise _Wrong("the number is larger than 64 bits can hold")


def _whole(value: Any, _: int) -> None:
    _expect(isinstance(value, int) and not isinstance(value, bool), value, "a whole number")
    _number(value, 0)


def _text(value: Any, _: int) -> None:
    _expect(isinstance(value, str), value, "text")


def _truth(value: Any, _: int) -> None:
    _expect(isinstance(value, bool), value, "true or false")


def _anything(value: Any, _: int) -> None:
    pass


def _expect(holds: bool, value: Any, expected: str) -> None:
    if not holds:
        raise _Wrong(f"expected {expected}, got {type(value).__name__}")
