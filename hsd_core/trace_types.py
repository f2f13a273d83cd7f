"""Type checks for events that come from a file: what a reader may rely on.

The page, the charts and the metrics index lists by level and count by id; a file from a stranger must not be able
to put text or a missing level there.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import cache
from typing import Any

from hsd_core import trace


def check_types(event: trace.Event) -> None:
    """Check every field of an event against its annotation.

    Raises:
        ValueError: a field has another type than the schema says; the message names it.
    """
    _check_fields(event, event.event)


def _check_fields(value: Any, where: str) -> None:
    for name, hint in _hints(type(value)).items():  # type: ignore[arg-type]
        _check(getattr(value, name), hint, f"{where}.{name}")


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls, vars(trace))
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _check(value: Any, hint: Any, where: str) -> None:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return
        hint = next(arg for arg in typing.get_args(hint) if arg is not type(None))
        origin = typing.get_origin(hint)
    if origin is tuple:
        _expect(isinstance(value, tuple), value, "a list", where)
        for i, item in enumerate(value):
            _check(item, typing.get_args(hint)[0], f"{where}[{i}]")
    elif origin is dict:
        _expect(isinstance(value, dict), value, "an object", where)
    elif dataclasses.is_dataclass(hint):
        _expect(isinstance(value, hint), value, "an object", where)  # type: ignore[arg-type]
        _check_fields(value, where)
    elif hint is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), value, "a number", where)
    elif hint is int:
        _expect(isinstance(value, int) and not isinstance(value, bool), value, "a whole number", where)
    elif hint in (str, bool):
        _expect(isinstance(value, hint), value, "text" if hint is str else "true or false", where)


def _expect(holds: bool, value: Any, expected: str, where: str) -> None:
    if not holds:
        raise ValueError(f"{where}: expected {expected}, got {type(value).__name__}")
