"""Traces and races of earlier versions are read as they are, and written anew with everything that they held."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.core.events import Header
from hsd_core.measure.race import race_file
from hsd_core.trace import checks, file
from hsd_core.trace.codec import read_event, to_dict
from hsd_core.trace.conventions import clock_of, lanes_of
from hsd_core.trace.earlier import converted

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.glob("version_[12]/*.jsonl.gz"))
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
WORK = {"forwards": 1, "rows": 6, "catch_up": 1, "beside": 2}
AGAIN = {
    **{"event": "draft", "round": 0, "level": 0, "at": 3, "work": WORK, "t0": 10, "t1": 30},
    "tokens": [{"serial": 7, "id": 1, "source": "m", "q": 0.5, "behind": -1}],
}
FOLLOWS = ("round", "hits", "misses")  # from the drafts before it: what a store said of itself, and is not kept


def before(record: dict[str, Any], version: int = 1) -> dict[str, Any]:
    """A line of this version as an earlier one had it, without what says nothing."""
    if record["event"] == "header":
        levels = record["levels"]
        apart = any(level["lane"] for level in levels)
        more = {"overlap": "reckoned" if record["reckoned"] else "real"} if apart else {}
        for level in levels if not any(level["lane"] for level in levels[:-1]) else ():
            del level["lane"]
        return {**record, "schema": version, **more}
    if record["event"] == "report" and record["t1"] is None:
        return {"event": "depths", **record["notes"]["depths"]}
    if version == 2 and record["event"] not in ("draft", "verify"):
        return record
    if version == 2:
        work = {"beside" if key == "probes" else key: value for key, value in record.get("work", {}).items()}
        tokens = [
            {"behind" if key == "parent" else key: value for key, value in x.items()} for x in record.get("tokens", [])
        ]
        return {**record, "work": work, **({"tokens": tokens} if tokens else {})}
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
        **{"probes": work.get("probes"), "stale": "stale" in notes, "theta": notes.get("threshold", {}).get("theta")},
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
        serials, behind = [x["serial"] for x in tokens], [x.get("parent") for x in tokens]
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
    if kept.get("overlap") == "none":
        del kept["overlap"]
    return {key: value for key, value in kept.items() if key != "copied" or any(value)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_file_of_an_earlier_version_is_written_anew_with_all_that_it_held(path: Path, tmp_path: Path) -> None:
    """But for how often processes were handed work, which no version measures any more."""
    out, version = tmp_path / "new.jsonl.gz", int(path.parent.name[-1])
    assert main(["convert", str(path), "--out", str(out)]) == 0
    old, new = (gzip.decompress(x.read_bytes()).splitlines() for x in (path, out))
    assert len(old) == len(new)
    for one, other in zip(map(json.loads, old), map(json.loads, new), strict=True):
        one.pop("handed", None)
        assert told(before(other, version)).items() >= told(one).items()
    if path.name.startswith("race"):
        assert race_file.read(path) == race_file.read(out)
    else:
        assert file.read(path) == file.read(out) and checks.check(file.read(path)) == []
        assert file.read(out)[0].schema == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("record", [DRAFT, VERIFY, STORE, VIEW], ids=["draft", "verify", "store", "view"])
def test_every_field_of_version_1_has_its_place(record: dict[str, Any]) -> None:
    newer = to_dict(read_event(json.dumps(record).encode(), 2))
    assert told(before(json.loads(json.dumps(newer)))) == told(record)


def test_probes_and_parents_of_version_2_have_their_names() -> None:
    same = {key: value for key, value in AGAIN.items() if key != "tokens"}
    judged = {**same, "event": "verify", "below": 0, "checks": []}
    for record in (AGAIN, judged):
        newer = to_dict(read_event(json.dumps(record).encode(), 2))
        again = json.loads(json.dumps(before(newer, 2)))
        assert newer["work"]["probes"] == 2 and told(again) == told(record)
    assert to_dict(read_event(json.dumps(AGAIN).encode(), 2))["tokens"][0]["parent"] == -1


def test_what_this_version_writes_stays_as_it_is(tmp_path: Path) -> None:
    shipped, out = Path("assets/traces/41-skip.jsonl.gz"), tmp_path / "again.jsonl.gz"
    shipped = Path(__file__).parents[2] / shipped
    assert main(["convert", str(shipped), "--out", str(out)]) == 0
    assert out.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{",
        b'{"event":"draft"}',
        b'{"event":"draft","serials":3}',
        b'{"event":[]}',
        b'{"event":"store"}',
        b'{"event":"header","schema":2,"levels":[3],"overlap":"real"}',
        b'{"event":"header","schema":2,"levels":[],"overlap":"both"}',
    ],
)
def test_what_is_no_line_of_an_earlier_version_is_not_guessed_at(line: bytes) -> None:
    assert converted(line, 2) is None


@pytest.mark.parametrize("handed", [b"[]", b"[2,0]", b"0"])
def test_a_footer_leaves_out_how_often_work_was_handed_over(handed: bytes) -> None:
    assert converted(b'{"event":"footer","rounds":2,"handed":' + handed + b"}", 2) == b'{"event":"footer","rounds":2}'
    assert converted(b'{"event":"footer","rounds":2}', 2) is None


def test_lanes_keep_their_clock() -> None:
    headers = {path.name[:2]: file.read(path)[0] for path in FILES if not path.name.startswith("race")}
    found = {name: (clock_of(one), lanes_of(one)) for name, one in headers.items() if isinstance(one, Header)}
    assert found["31"] == ("reckoned", (0, 0, 1)) and found["34"] == ("real", (0, 1))
    assert found["37"] == ("reckoned", (0, 1, 2)) and found["15"] == ("", (0, 0))
