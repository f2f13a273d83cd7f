"""Events as plain JSON types and back, strictly: a field too many or too few is refused by name."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

from hsd_core.trace import EVENTS, Check, Committed, Copied, Event, KvLength, LevelInfo, LevelTotal, Row, Span

_NESTED: dict[tuple[str, str], type] = {
    ("header", "levels"): LevelInfo,
    ("draft", "ran"): Span,
    ("draft", "copied"): Copied,
    ("verify", "checks"): Check,
    ("verify", "ran"): Span,
    ("commit", "tokens"): Committed,
    ("kv", "levels"): KvLength,
    ("footer", "totals"): LevelTotal,
}
_WITH_GAPS = {("draft", "copied")}
_ATOMS = (int, float, str)


def to_dict(event: Event) -> dict[str, Any]:
    """An event as plain JSON types, with its name under "event"."""
    return {"event": event.event, **_plain(event)}


def _plain(value: Any) -> Any:
    """As `dataclasses.asdict`, which would copy every figure of a long list on its own."""
    if isinstance(value, tuple):
        return value if not value or isinstance(value[0], _ATOMS) else tuple(_plain(x) for x in value)
    if isinstance(value, dict):
        return {key: _plain(x) for key, x in value.items()}
    if isinstance(value, list):
        return [_plain(x) for x in value]
    if isinstance(value, _ATOMS) or value is None:
        return value
    return {name: _plain(getattr(value, name)) for name in _fields(type(value))[0]}  # type: ignore[arg-type]


def from_dict(record: dict[str, Any]) -> Event:
    """The inverse of `to_dict`.

    Raises:
        ValueError: the record is no event of this schema; the message says which field is wrong.
    """
    if not isinstance(record, dict) or record.get("event") not in EVENTS:
        name = record.get("event") if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"unknown event {name!r}; known: {', '.join(EVENTS)}")
    name = record["event"]
    fields = {k: _frozen(name, k, v) for k, v in record.items() if k != "event"}
    event: Event = _build(EVENTS[name], fields, name)
    return event


def _frozen(event: str, key: str, value: Any) -> Any:
    nested = _NESTED.get((event, key))
    if nested is not None:
        if not isinstance(value, list):
            raise ValueError(f"{event}.{key}: expected a list, got {type(value).__name__}")
        gaps = (event, key) in _WITH_GAPS
        return tuple(None if x is None and gaps else _nested(nested, x, key) for x in value)
    if key in ("p_row", "q_row", "residual") and value is not None:
        return _nested(Row, value, key)
    return _tuples(value)


def _nested(cls: type, value: Any, where: str) -> Any:
    return _build(cls, {k: _frozen("", k, v) for k, v in _mapping(value, where).items()}, where)


def _tuples(value: Any) -> Any:
    """Lists, and lists in lists, as tuples."""
    return tuple(_tuples(x) for x in value) if isinstance(value, list) else value


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected an object, got {type(value).__name__}")
    return value


def _build(cls: type, fields: dict[str, Any], where: str) -> Any:
    known, required = _fields(cls)
    unknown = fields.keys() - known.keys()
    if unknown or (missing := required - fields.keys()):
        what = f"unknown field {sorted(unknown)[0]!r}" if unknown else f"missing field {sorted(missing)[0]!r}"
        raise ValueError(f"{where}: {what}")
    return cls(**fields)


@cache
def _fields(cls: type) -> tuple[dict[str, None], frozenset[str]]:
    """The names of a class's fields in their order, and of those that have no default."""
    fields, none = dataclasses.fields(cls), dataclasses.MISSING
    required = frozenset(f.name for f in fields if f.default is none and f.default_factory is none)
    return dict.fromkeys(f.name for f in fields), required
