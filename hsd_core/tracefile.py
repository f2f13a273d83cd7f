"""Traces as files: JSON lines, one event a line, gzip by the ending .gz.

Reading is strict: a file is refused whole, with the line and the reason, rather than half understood.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hsd_core.trace import READABLE, Event, Header
from hsd_core.trace_json import from_dict, to_dict
from hsd_core.trace_types import check_stack, check_types

MAX_BYTES = 200_000_000
MAX_LINE = 8_000_000  # bytes: what every layer made of 10,000 tokens (`Depths`) takes 5 MB in one line
MAX_RECORDS = 400_000  # of a file: 10,000 tokens through four levels are 110,000
_CHOOSE = "choose a .jsonl or .jsonl.gz file of a recorded run"
_CURE = "The file is damaged or was edited; download it again or record the run again"


class TraceError(ValueError):
    """A file that is no trace of this schema; the message says where and why."""


def dumps(events: Iterable[Event]) -> str:
    """Events as JSON lines."""
    return "".join(json.dumps(to_dict(e), separators=(",", ":"), ensure_ascii=False) + "\n" for e in events)


def write(path: str | Path, events: Iterable[Event]) -> None:
    """Write a trace; compressed if the name ends in .gz (without a time stamp: the same run, the same bytes)."""
    path = Path(path)
    data = dumps(events).encode()
    path.write_bytes(pack(data) if path.suffix == ".gz" else data)


def pack(data: bytes) -> bytes:
    """gzip, reproducibly."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def read(source: str | Path | bytes, *, max_bytes: int = MAX_BYTES) -> list[Event]:
    """Read a trace from a path or from the bytes of a file, compressed or not.

    Raises:
        TraceError: not a trace, damaged, too large, or of a schema that this version does not know.
        OSError: the path cannot be read.
    """
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    events: list[Event] = []
    levels = 0
    for number, line in enumerate(io.BytesIO(_unpacked(data, max_bytes)), 1):
        if number > MAX_RECORDS:
            raise TraceError(f"the trace has more than {MAX_RECORDS} lines; download it again or record a shorter run")
        if len(line) > MAX_LINE:  # before it is parsed: a line of 100 MB takes gigabytes
            raise TraceError(f"line {number}: longer than {MAX_LINE / 1e6:g} MB, which no event of a run is. {_CURE}")
        if line.isspace():
            continue
        try:
            record = _parsed(line)
            if not events:
                _check_header(record)
            elif not isinstance(record, dict) or not isinstance(record.get("event"), str):
                raise ValueError("expected an object with an event's name")
            event = from_dict(record)
            if isinstance(event, Header):
                levels = len(event.levels)
                check_stack(event)
            check_types(event, levels)
        except TraceError as error:
            raise TraceError(f"line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise TraceError(f"line {number}: {_reason(error)}. {_CURE}") from None
        if events and isinstance(event, Header):
            raise TraceError(f"line {number}: a second header; a file holds one run, so save each in its own")
        events.append(event)
    if not events:
        raise TraceError(f"the file is empty; {_CHOOSE}")
    return events


def _check_header(record: object) -> None:
    if not isinstance(record, dict) or record.get("event") != "header":
        raise TraceError(f"this is no trace: its first line is not a header; {_CHOOSE}")
    if record.get("schema") not in READABLE:
        raise TraceError(
            f"trace schema {record.get('schema')!r} is unknown; this version reads {READABLE[0]} to {READABLE[-1]}. "
            "Open it with the version that wrote it, or record the run again"
        )


def _unpacked(data: bytes, max_bytes: int) -> bytes:
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(max_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise TraceError(f"the compressed file is damaged ({error}); download it again") from None
    if len(data) > max_bytes:
        raise TraceError(f"the trace is larger than {max_bytes / 1e6:g} MB; record a shorter run")
    return data


def _parsed(line: bytes) -> Any:
    try:
        record = json.loads(line.decode(), parse_constant=_refuse)
        if b"\\ud" in line.lower():  # half of a character, which could not be written or sent on
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise TraceError(f"this is no trace: the file is not text; {_CHOOSE}") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(f"the text holds half of a character ({half!r}), which is no text") from None
    return record


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number in JSON")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg} at column {error.colno})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error) or type(error).__name__
