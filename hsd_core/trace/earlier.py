"""Lines of earlier versions as lines of this one, carried over as they are read.

Version 1 had a field for everything that one system says of a draft or a verification, lists side by side for the
tokens of a draft, and events of their own for n-gram stores and views. Version 2 had an event for the layers at which
the target knew its text, and a word for the clock of runs with several lanes (`overlap`); it called probes and parents
otherwise. Where a lane was a process, its footer counted how often work was handed over, which is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsd_core.core.events import SCHEMA
from hsd_core.typed import Malformed, encode, plain

EARLIER = (1, 2)  # versions that are still read


def converted(line: bytes, levels: int) -> bytes | None:
    """A line of an earlier version as one of this; None where it is none. levels: of the run's stack, 0 before its
    header is known."""
    try:
        record = plain(line)
        newer = _depths(record, levels) if record["event"] == "depths" else _CONVERTED[record["event"]](record)
    except (Malformed, AttributeError, LookupError, TypeError, ValueError):
        return None  # the caller reads the line as it is, and reports what is wrong with it
    return None if newer is None else encode(newer)


def _header(record: dict[str, Any]) -> dict[str, Any] | None:
    version, levels = record.get("schema"), record["levels"]
    if type(version) is not int or version not in EARLIER:
        return None
    overlap = record.pop("overlap", "none")
    if overlap not in ("none", "reckoned", "real", "simulated"):
        return None
    for i, level in enumerate(levels if overlap != "none" else ()):
        level.setdefault("lane", int(i == len(levels) - 1))
    return {**record, "schema": SCHEMA, "reckoned": overlap == "reckoned"}


def _footer(record: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in record.items() if name != "handed"} if "handed" in record else None


def _depths(record: dict[str, Any], levels: int) -> dict[str, Any]:
    """The event for the layers at which the target knew each token, now a note."""
    depths = {name: record[name] for name in ("at", "readouts", "p", "top")}
    return {"event": "report", "level": levels - 1, "t0": None, "t1": None, "notes": {"depths": depths}}


def _draft(record: dict[str, Any]) -> dict[str, Any] | None:
    if "serials" not in record:
        tokens = record["tokens"]
        if not isinstance(tokens, list):
            return None
        tokens = [_renamed(token, "behind", "parent") for token in tokens]
        return {**record, "work": _renamed(record["work"], "beside", "probes"), "tokens": tokens}
    parents, onto = record.pop("parents", []), record.pop("onto", None)
    serials, ids, sources, q, confidence = (
        record.pop(name) for name in ("serials", "ids", "sources", "q", "confidence")
    )
    ends = onto or [-1] * len(serials)
    behind = [end if above < 0 else serials[above] for above, end in zip(parents, ends, strict=bool(parents))]
    columns = serials, ids, sources, q, confidence, behind or [None] * len(serials)
    names = "serial", "id", "source", "q", "confidence", "parent"
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
        return {**record, "work": _renamed(record["work"], "beside", "probes")}
    notes = {"dropped": _note(record, "dropped", "serials"), "asked": record.pop("asked", None)}
    return _newer(record, 1, notes)


def _renamed(record: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in record.items()}


def _store(record: dict[str, Any]) -> dict[str, Any]:
    """The counts of an n-gram store at a commit; its hits and misses can be computed from the drafts."""
    for name in ("round", "hits", "misses"):
        del record[name]
    filed = {name: record.pop(name) for name in ("inserts", "evictions")}
    window = {"window": record.pop("window")} if "window" in record else {}
    return {**record, "event": "report", "notes": {"filed": filed | window}}


def _view(record: dict[str, Any]) -> dict[str, Any]:
    """The positions that a view of the target's cache holds."""
    del record["of"]
    chosen = {name: record.pop(name) for name in ("upto", "slots", "heads", "held")}
    t = record.pop("t")
    return {**record, "event": "report", "t0": t, "t1": t, "notes": {"chosen": chosen}}


def _newer(record: dict[str, Any], forwards: int, notes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The fields that drafts and verifications had in common."""
    work = {
        "forwards": forwards,
        "rows": record.pop("rows"),
        "catch_up": record.pop("catch_up"),
        "ran": record.pop("ran", []),
        "probes": record.pop("probes", 0),
    }
    notes |= {
        "threshold": _note(record, "theta", "theta"),
        "stale": {} if record.pop("stale", False) else None,
        "moved": record.pop("moved", None),
    }
    return {**record, **fields, "work": work, "notes": {name: note for name, note in notes.items() if note is not None}}


def _note(record: dict[str, Any], field: str, name: str) -> dict[str, Any] | None:
    """The value of a field as a note; None if it was empty."""
    value = record.pop(field, None)
    return {name: value} if value or isinstance(value, float) else None


_CONVERTED: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "header": _header,
    "footer": _footer,
    "draft": _draft,
    "verify": _verify,
    "store": _store,
    "view": _view,
}
