"""Events as JSON and back, with strict types that readers of a trace can rely on.

The page, the charts and the metrics index lists by level and count by id, so text, unknown levels and oversized values
of an untrusted file are refused here. The types are those of `events`.

Lines of earlier versions are carried over as they are read (`earlier`); `python -m hsd_core convert` writes whole
files anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, inspect

from hsd_core.core.events import EVENTS, FORMAT, SCHEMA, Event, Header, Part
from hsd_core.trace.earlier import EARLIER, converted
from hsd_core.typed import Wrong, builtins, check_free, convert, decode, json_decoder

MAX_LEVELS = 64
_DECODER: msgspec.json.Decoder[Event] = json_decoder(Event)  # type: ignore[arg-type]


class _Start(Struct):
    """The fields of a line that are read first."""

    event: Any = None
    format: Any = None
    schema: Any = None


_START = json_decoder(_Start)


class UnknownSchema(ValueError):
    """A trace of a version that cannot be read."""


def to_dict(event: Event) -> dict[str, Any]:
    """An event as plain JSON types, with its name under "event"."""
    record: dict[str, Any] = builtins(event)
    return record


def from_dict(record: dict[str, Any]) -> Event:
    """The inverse of `to_dict`.

    Raises:
        Wrong: the record is not an event of this schema.
    """
    event: Event = convert(record, Event)  # type: ignore[arg-type]
    return event


def read_header(line: bytes) -> Header | None:
    """The header of a trace; None if the line is something else.

    Raises:
        UnknownSchema: its version cannot be read. ValueError: a field is wrong; the message names it.
    """
    try:
        start = decode(line, _START)
    except Wrong:
        return None
    if start.event != Header.event or start.format not in (None, FORMAT):
        return None
    if start.format is None:  # as long as there was no release, a header named none
        raise UnknownSchema(
            f"this is a trace of schema {start.schema!r} from before the first release, which no release reads; "
            "record the run again"
        )
    if start.schema not in (SCHEMA, *EARLIER):
        raise UnknownSchema(
            f"trace schema {start.schema!r} is unknown; this version reads {SCHEMA} and what came before. "
            "Open it with the version that wrote it, or record the run again"
        )
    header = read_event(line, MAX_LEVELS)
    assert isinstance(header, Header)
    numbers = [level.index for level in header.levels]
    if len(numbers) > MAX_LEVELS:
        raise ValueError(f"header.levels: {len(numbers)} levels; at most {MAX_LEVELS} can be shown")
    if not numbers or numbers != list(range(len(numbers))):
        raise ValueError(f"header.levels: expected levels numbered 0, 1, ..., got {numbers}")
    _check_levels(header, len(numbers))
    for name in ("sampling", "profile", "replan"):
        check_free(getattr(header, name) or {}, f"header.{name}")
    for level in header.levels:
        for name in ("weights", "params"):
            check_free(getattr(level, name) or {}, f"header.levels[{level.index}].{name}")
    return header


def read_event(line: bytes, levels: int) -> Event:
    """An event of a trace with this number of levels.

    Raises:
        ValueError: it does not fit the schema: a field is missing, unknown or of another type, a number is too large, a
            level is not in the stack, or parallel lists differ in length; the message names the field.
    """
    try:
        event = _decoded(line, levels)
    except Wrong as error:
        raise ValueError(_reason(line, error)) from None
    if not isinstance(event, Header):
        _check_levels(event, levels)
    return event


def _decoded(line: bytes, levels: int) -> Event:
    try:
        return decode(line, _DECODER)
    except Wrong:
        if (newer := converted(line, levels)) is None:
            raise
    return decode(newer, _DECODER)


def _reason(line: bytes, error: Wrong) -> str:
    try:
        name = decode(line, _START).event
    except Wrong:
        name = None
    if not isinstance(name, str):
        return "expected an object with an event's name"
    if name not in EVENTS:
        return f"unknown event {name[:80]!r}; known: {', '.join(EVENTS)}"
    return f"{name}.{error}" if error.where else f"{name}: {error}"


def _check_levels(event: Event, levels: int) -> None:
    for name, level in _levels(event):
        if level is not None and not 0 <= level < levels:
            raise ValueError(f"{event.event}.{name}: there is no level {level}; the stack has {levels}")


def _levels(part: Part) -> Iterator[tuple[str, int | None]]:
    """The levels that an event refers to, each with its field."""
    for name in _naming(type(part)):
        value = getattr(part, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Part):
                yield from ((f"{name}.{inner}", level) for inner, level in _levels(item))
            else:
                yield name, item


@cache
def _naming(kind: type[Part]) -> tuple[str, ...]:
    """The fields of a class that refer to levels, directly or in a struct."""
    return tuple(field.name for field in inspect.type_info(kind).fields if _names(field.type))  # type: ignore[attr-defined]


def _names(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return (kind.extra or {}).get("names") == "level" or _names(kind.type)
    if isinstance(kind, inspect.StructType):
        return bool(_naming(kind.cls))
    if isinstance(kind, inspect.UnionType):
        return any(map(_names, kind.types))
    return isinstance(kind, inspect.VarTupleType) and _names(kind.item_type)
