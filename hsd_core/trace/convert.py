"""Lines of traces of earlier versions as lines of this one. Every reader opens them so; `python -m hsd_core convert`
writes whole files anew.

Version 1 had a field for everything that one system says of a draft or a verification, and lists side by side for the
tokens of a draft.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsd_core.core.events import SCHEMA
from hsd_core.typed import Malformed, encode, plain

OLDER = (1,)  # versions that are still read


def converted(line: bytes) -> bytes | None:
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
}
