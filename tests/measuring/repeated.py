"""A long run out of a short one: its rounds, one copy after another, as a trace that adds up."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from hsd_core.trace import file as tracefile
from hsd_core.trace.codec import read_event, read_header

_TIMES = ("t", "t0", "t1")
_TOTALS = ("forwards", "rows", "tokens_in", "tokens_out", "ns")


def repeated(source: Path, tokens: int, title: str = "A long run") -> bytes:
    """A packed trace of at least so many tokens, made from the trace at `source`. Plain decoding, which was measured
    for the short one, is left out."""
    with gzip.open(source, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    header, footer = records[0], next(record for record in records if record["event"] == "footer")
    body = [record for record in records if record.get("round") is not None]
    kept = [record for record in records if record["event"] in ("piece", "prefill") and record not in body]
    rounds, committed = footer["rounds"], footer["committed"]
    serials = 1 + max(one for record in body for one in _serials(record))
    start = min(record["t0"] for record in body if "t0" in record)
    lasts = max(record.get("t1", record.get("t", 0)) for record in body) - start
    times = -(-tokens // committed)
    copies = [_moved(r, i * rounds, i * committed, i * serials, i * lasts) for i in range(times) for r in body]
    header |= {"max_new_tokens": times * committed, "title": title}
    decode = footer["decode_ns"] + (times - 1) * lasts
    footer |= {"rounds": times * rounds, "committed": times * committed, "decode_ns": decode}
    footer["totals"] = [total | {name: times * total[name] for name in _TOTALS} for total in footer["totals"]]
    lines = [json.dumps(record) for record in (header, *kept, *copies, footer)]
    levels = len(header["levels"])
    events = [read_header(lines[0]), *(read_event(line, levels) for line in lines[1:])]
    return tracefile.pack(tracefile.dumps(event for event in events if event).encode())


def _serials(record: dict[str, Any]) -> list[int]:
    named = [record["serial"]] if "serial" in record else []
    return [*named, *(one["serial"] for name in ("checks", "tokens") for one in record.get(name, ()))]


def _moved(record: dict[str, Any], rounds: int, places: int, serials: int, ns: int) -> dict[str, Any]:
    """A record of a later copy."""
    moved = record | {"round": record["round"] + rounds}
    moved |= {name: record[name] + ns for name in _TIMES if name in record}
    for name, more in (("at", places), ("serial", serials), ("before", places), ("after", places)):
        if name in record:
            moved[name] = record[name] + more
    for name in ("checks", "tokens"):
        if name in record:
            moved[name] = [one | {"serial": one["serial"] + serials} for one in record[name]]
    if record["event"] == "kv":
        more = {"cached": places, "committed": places}
        moved["levels"] = [one | {name: one[name] + n for name, n in more.items()} for one in record["levels"]]
    if copies := record.get("notes", {}).get("copies"):
        copied = [one and one | {"at": one["at"] + places * (one["at"] >= 0)} for one in copies["copied"]]
        moved["notes"] = record["notes"] | {"copies": {"copied": copied}}
    return moved
