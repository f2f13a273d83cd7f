"""Type checks for events that come from a file: what a reader may rely on.

The page, the charts and the metrics index lists by level and count by id; a file from a stranger must not be able
to put text or a missing level there.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from functools import cache
from typing import Any

from hsd_core import trace

_LEVELS = ("level", "levels", "below", "passed", "shares")
_PARALLEL = (
    ("serials", "ids", "sources", "q", "confidence"),
    ("ids", "probs"),
    ("at", "readouts", "p", "top"),
)


def check_types(event: trace.Event, levels: int) -> None:
    """Check every field of an event against its annotation, and that it speaks of one of the stack's `levels`.

    Raises:
        ValueError: a field has another type than the schema says, a level is missing, or lists that run side by side
            differ in length; the message names it.
    """
    _check_fields(event, event.event, levels)


def check_stack(header: trace.Header) -> None:
    """Check that the header's levels are numbered from 0 without a gap, so that a number finds its level.

    Raises:
        ValueError: they are not.
    """
    numbers = [level.index for level in header.levels]
    if not numbers or numbers != list(range(len(numbers))):
        raise ValueError(f"header.levels: expected levels numbered 0, 1, ..., got {numbers}")


def _check_fields(value: Any, where: str, levels: int) -> None:
    hints = _hints(type(value))  # type: ignore[arg-type]
    for name, hint in hints.items():
        held = getattr(value, name)
        _check(held, hint, f"{where}.{name}", levels)
        if name in _LEVELS:
            for level in held if isinstance(held, tuple) else (held,):
                if isinstance(level, int) and not 0 <= level < levels:
                    raise ValueError(f"{where}.{name}: there is no level {level}; the stack has {levels}")
    for names in _PARALLEL:
        if set(names) <= hints.keys() and len({len(getattr(value, name)) for name in names}) > 1:
            raise ValueError(f"{where}: {', '.join(names)} differ in length")


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls, vars(trace))
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _check(value: Any, hint: Any, where: str, levels: int) -> None:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return
        hint = next(arg for arg in typing.get_args(hint) if arg is not type(None))
        origin = typing.get_origin(hint)
    if origin is tuple:
        _expect(isinstance(value, tuple), value, "a list", where)
        for i, item in enumerate(value):
            _check(item, typing.get_args(hint)[0], f"{where}[{i}]", levels)
    elif origin is dict:
        _expect(isinstance(value, dict), value, "an object", where)
        for key, item in value.items():
            _check(item, typing.get_args(hint)[1], f"{where}.{key}", levels)
    elif dataclasses.is_dataclass(hint):
        _expect(isinstance(value, hint), value, "an object", where)  # type: ignore[arg-type]
        _check_fields(value, where, levels)
    elif hint is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), value, "a number", where)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{where}: expected a finite number, got {value}")
    elif hint is int:
        _expect(isinstance(value, int) and not isinstance(value, bool), value, "a whole number", where)
    elif hint in (str, bool):
        _expect(isinstance(value, hint), value, "text" if hint is str else "true or false", where)


def _expect(holds: bool, value: Any, expected: str, where: str) -> None:
    if not holds:
        raise ValueError(f"{where}: expected {expected}, got {type(value).__name__}")
