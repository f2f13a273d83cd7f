"""Traces and races of version 1 are read as they are, and written anew with everything that they said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.measure.race import race_file
from hsd_core.trace import checks, file
from hsd_core.trace.codec import converted_line, read_event, to_dict

FILES = sorted((Path(__file__).parents[1] / "version_1").glob("*.jsonl.gz"))
DRAFT = {
    **{"event": "draft", "round": 0, "level": 0, "at": 3, "serials": [7, 8, 9], "ids": [1, 2, 1]},
    **{"sources": ["m", "c", "m"], "q": [0.5, 1.0, 0.25], "confidence": [0.5, None, 0.75], "forwards": 2, "rows": 4},
    **{"catch_up": 1, "t0": 10, "t1": 30, "ran": [{"lo": 0, "hi": 4, "rows": 2}], "theta": 0.0},
    **{"copied": [None, {"at": -1, "alike": 2, "share": 1.0}, None], "parents": [-1, 0, -1], "keys": [0, 2, 0]},
    **{"silent": 1, "draws": [2, 1, 1], "onto": [5, -1, -1], "moved": {"bytes": 8, "ns": 3}, "own": [1, 3]},
}
VERIFY = {
    **{"event": "verify", "round": 0, "level": 1, "below": 0, "at": 3, "rows": 6, "catch_up": 1, "checks": []},
    **{"t0": 10, "t1": 30, "ran": [], "theta": 0.5, "bounds": [{"first": 7, "rule": None, "best": 0.5}], "probes": 2},
    **{"dropped": [8, 9], "stale": True, "moved": {"bytes": 8, "ns": 3}, "asked": {"rows": 3, "ns": 9}},
}
STORE = {
    **{"event": "store", "round": 0, "level": 0, "inserts": 3, "evictions": 1, "hits": {"c": 2}, "misses": 1},
    **{"t0": 10, "t1": 30, "window": [[1, 2], [3, 4]]},
}
VIEW = {
    **{"event": "view", "level": 0, "of": 1, "upto": 9, "slots": 8, "heads": 6, "t": 30},
    "held": [{"lo": 0, "hi": 4, "heads": 6}],
}
FOLLOWS = ("round", "hits", "misses")  # from the drafts before it: what a store said of itself, and is not kept


def before(record: dict[str, Any]) -> dict[str, Any]:
    """A line of this version as version 1 had it, without what says nothing."""
    if record["event"] == "header":
        record = {**record, "schema": 1}
    if record["event"] == "report":
        (name, said), *_ = record.pop("notes").items()
        if name == "filed":
            return {**record, "event": "store", **said}
        t = record.pop("t0")
        return {"event": "view", "level": record["level"], "of": 1, **said, "t": t}
    if record["event"] not in ("draft", "verify"):
        return record
    notes, work = record.pop("notes", {}), record.pop("work")
    forwards = {"forwards": work.pop("forwards", 0)} if record["event"] == "draft" else {}
    one = {
        **{"rows": work.get("rows"), "catch_up": work.get("catch_up"), "ran": work.get("ran")},
        **{"probes": work.get("beside"), "stale": "stale" in notes, "theta": notes.get("threshold", {}).get("theta")},
        **{"copied": notes.get("copies", {}).get("copied"), **notes.get("lookups", {})},
        **{"draws": notes.get("draws", {}).get("times"), "own": notes.get("ruler", {}).get("bytes")},
        **{
            "dropped": notes.get("dropped", {}).get("serials"),
            "asked": notes.get("asked"),
            "moved": notes.get("moved"),
        },
    }
    if record["event"] == "draft":
        tokens = record.pop("tokens")
        serials, behind = [x["serial"] for x in tokens], [x.get("behind") for x in tokens]
        one |= {"serials": serials, **{f"{name}s": [x[name] for x in tokens] for name in ("id", "source")}}
        one |= {name: [x.get(name) for x in tokens] for name in ("q", "confidence")}
        if tokens and None not in behind:
            one["parents"] = [serials.index(x) if x in serials else -1 for x in behind]
            onto = [-1 if x in serials else x for x in behind]
            one["onto"] = onto if max(onto) >= 0 else None
    return record | forwards | one


def told(record: dict[str, Any]) -> dict[str, Any]:
    """What a line says: without what is nothing, in a list of it too (a draft without copies)."""
    kept = {
        key: value for key, value in record.items() if isinstance(value, float) or value not in (None, [], False, 0)
    }
    if record["event"] == "store":
        kept = {key: value for key, value in kept.items() if key not in FOLLOWS}
    return {key: value for key, value in kept.items() if key != "copied" or any(value)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_file_of_version_1_opens_and_is_written_anew_with_all_that_it_said(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl.gz"
    assert main(["convert", str(path), "--out", str(out)]) == 0
    old, new = (gzip.decompress(x.read_bytes()).splitlines() for x in (path, out))
    assert len(old) == len(new)
    for one, other in zip(map(json.loads, old), map(json.loads, new), strict=True):
        assert told(before(other)).items() >= told(one).items()
    if path.name.startswith("race"):
        assert race_file.read(path) == race_file.read(out)
    else:
        assert file.read(path) == file.read(out) and checks.check(file.read(path)) == []
        assert file.read(out)[0].schema == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("record", [DRAFT, VERIFY, STORE, VIEW], ids=["draft", "verify", "store", "view"])
def test_every_field_of_version_1_has_its_place(record: dict[str, Any]) -> None:
    newer = to_dict(read_event(json.dumps(record).encode(), 2))
    assert told(before(json.loads(json.dumps(newer)))) == told(record)


def test_what_this_version_writes_stays_as_it_is(tmp_path: Path) -> None:
    shipped, out = Path("assets/traces/41-skip.jsonl.gz"), tmp_path / "again.jsonl.gz"
    shipped = Path(__file__).parents[2] / shipped
    assert main(["convert", str(shipped), "--out", str(out)]) == 0
    assert out.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"{", b'{"event":"draft"}', b'{"event":"draft","serials":3}', b'{"event":[]}', b'{"event":"store"}'],
)
def test_what_is_no_line_of_version_1_is_not_guessed_at(line: bytes) -> None:
    assert converted_line(line) is None
