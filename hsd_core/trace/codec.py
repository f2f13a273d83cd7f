"""Events as JSON and back, strictly: what a reader of a trace may rely on.

The page, the charts and the metrics index lists by level and count by id; a file from a stranger must not be able to
put text, a missing level or more than a run can hold there. The types are those of `events`.

Lines of earlier versions are carried over as they are read; `python -m hsd_core convert` writes whole files anew.
Version 1 had a field for everything that one system says of a draft or a verification, lists side by side for the
tokens of a draft, and events of their own for n-gram stores and views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, inspect

from hsd_core.core.events import EVENTS, FORMAT, SCHEMA, Event, Header, Part
from hsd_core.typed import Malformed, Wrong, builtins, check_free, convert, decode, encode, json_decoder, plain

OLDER = (1,)  # versions that are still read


def converted_line(line: bytes) -> bytes | None:
    """A line of an earlier version as one of this; None where it is none."""
    try:
        record = plain(line)
        newer = _CONVERTED[record["event"]](record)
    except (Malformed, LookupError, TypeError, ValueError):  # whoever reads it as it is says what is wrong with it
        return None
    return None if newer is None else encode(newer)


def _header(record: dict[str, Any]) -> dict[str, Any] | None:
    version = record.get("schema")
    return {**record, "schema": SCHEMA} if type(version) is int and version in OLDER else None


def _draft(record: dict[str, Any]) -> dict[str, Any] | None:
    if "serials" not in record:
        return None
    parents, onto = record.pop("parents", []), record.pop("onto", None)
    serials, ids, sources, q, confidence = (
        record.pop(name) for name in ("serials", "ids", "sources", "q", "confidence")
    )
    ends = onto or [-1] * len(serials)
    behind = [end if above < 0 else serials[above] for above, end in zip(parents, ends, strict=bool(parents))]
    columns = serials, ids, sources, q, confidence, behind or [None] * len(serials)
    names = "serial", "id", "source", "q", "confidence", "behind"
    tokens = [
        {name: value for name, value in zip(names, token, strict=True) if value is not None}
        for token in zip(*columns, strict=True)
    ]
    copied, keys, silent = record.pop("copied", []), record.pop("keys", []), record.pop("silent", 0)
    notes = {
        "copies": {"copied": copied} if any(copied) else None,
        "lookups": {"keys": keys, "silent": silent} if keys or silent else None,
        "draws": _note(record, "draws", "times"),
        "ruler": _note(record, "own", "bytes"),
    }
    return _newer(record, record.pop("forwards"), notes, tokens=tokens)


def _verify(record: dict[str, Any]) -> dict[str, Any] | None:
    if "rows" not in record:
        return None
    notes = {"dropped": _note(record, "dropped", "serials"), "asked": record.pop("asked", None)}
    return _newer(record, 1, notes)


def _store(record: dict[str, Any]) -> dict[str, Any]:
    """What an n-gram store counted at a commit; its hits and misses follow from the drafts."""
    for name in ("round", "hits", "misses"):
        del record[name]
    filed = {name: record.pop(name) for name in ("inserts", "evictions")}
    window = {"window": record.pop("window")} if "window" in record else {}
    return {**record, "event": "report", "notes": {"filed": filed | window}}


def _view(record: dict[str, Any]) -> dict[str, Any]:
    """What a view of the target's cache holds."""
    del record["of"]
    chosen = {name: record.pop(name) for name in ("upto", "slots", "heads", "held")}
    t = record.pop("t")
    return {**record, "event": "report", "t0": t, "t1": t, "notes": {"chosen": chosen}}


def _newer(record: dict[str, Any], forwards: int, notes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What a draft and a verification had in common."""
    work = {
        "forwards": forwards,
        "rows": record.pop("rows"),
        "catch_up": record.pop("catch_up"),
        "ran": record.pop("ran", []),
        "beside": record.pop("probes", 0),
    }
    notes |= {
        "threshold": _note(record, "theta", "theta"),
        "stale": {} if record.pop("stale", False) else None,
        "moved": record.pop("moved", None),
    }
    return {**record, **fields, "work": work, "notes": {name: note for name, note in notes.items() if note is not None}}


def _note(record: dict[str, Any], field: str, name: str) -> dict[str, Any] | None:
    """What stood in a field, as a note; None where nothing did."""
    value = record.pop(field, None)
    return {name: value} if value or isinstance(value, float) else None


_CONVERTED: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "header": _header,
    "draft": _draft,
    "verify": _verify,
    "store": _store,
    "view": _view,
}


MAX_LEVELS = 64
_DECODER: msgspec.json.Decoder[Event] = json_decoder(Event)  # type: ignore[arg-type]


class _Start(Struct):
    """What must be known of a line before it is read."""

    event: Any = None
    format: Any = None
    schema: Any = None


_START = json_decoder(_Start)


class UnknownSchema(ValueError):
    """A trace of a version that we do not read."""


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
        UnknownSchema: of a version that we do not read. ValueError: a field of it is wrong; the message names it.
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
    if start.schema not in (SCHEMA, *OLDER):
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
    """An event of a trace of so many levels.

    Raises:
        ValueError: it is none of this schema: a field is missing, unknown or of another type, a number too large, a
            level not in the stack, or lists that run side by side differ in length; the message names the field.
    """
    try:
        event = _decoded(line)
    except Wrong as error:
        raise ValueError(_said(line, error)) from None
    if not isinstance(event, Header):
        _check_levels(event, levels)
    return event


def _decoded(line: bytes) -> Event:
    try:
        return decode(line, _DECODER)
    except Wrong:
        if (newer := converted_line(line)) is None:
            raise
    return decode(newer, _DECODER)


def _said(line: bytes, error: Wrong) -> str:
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
    """The levels that an event names, each with its field."""
    for name in _naming(type(part)):
        value = getattr(part, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Part):
                yield from ((f"{name}.{inner}", level) for inner, level in _levels(item))
            else:
                yield name, item


@cache
def _naming(kind: type[Part]) -> tuple[str, ...]:
    """The fields of a class that name levels, or hold what does."""
    return tuple(field.name for field in inspect.type_info(kind).fields if _names(field.type))  # type: ignore[attr-defined]


def _names(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return (kind.extra or {}).get("names") == "level" or _names(kind.type)
    if isinstance(kind, inspect.StructType):
        return bool(_naming(kind.cls))
    if isinstance(kind, inspect.UnionType):
        return any(map(_names, kind.types))
    return isinstance(kind, inspect.VarTupleType) and _names(kind.item_type)
