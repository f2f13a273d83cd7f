"""Traces as files: JSON lines, one event a line, gzip by the ending .gz.

Reading is strict: a file with an error is refused, with the line and the reason.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from hsd_core.core.events import Event, Header
from hsd_core.trace.codec import UnknownSchema, read_event, read_header
from hsd_core.typed import Malformed, TooLong, encode_lines, lines
from hsd_core.typed.files import MAX_BYTES, read_bytes

MAX_RECORDS = 400_000  # of a file: 10,000 tokens through four levels are 110,000
_CHOOSE = "choose a .jsonl or .jsonl.gz file of a recorded run"
_CURE = "The file is damaged or was edited; download it again or record the run again"


class TraceError(ValueError):
    """A file that is not a valid trace; the message has the line and the reason."""


def dumps(events: Iterable[Event]) -> str:
    """Events as JSON lines."""
    return encode_lines(events).decode()


def write(path: str | Path, events: Iterable[Event]) -> None:
    """Write a trace, compressed if the name ends in .gz (without a time stamp, so that the same run gives the same
    bytes)."""
    path = Path(path)
    data = encode_lines(events)
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
    data = source if isinstance(source, bytes) else bytes_of(source, max_bytes)
    events: list[Event] = []
    levels = 0
    for number, line in numbered(unpacked(data, max_bytes)):
        event = event_of(number, line, levels)
        if isinstance(event, Header):
            if events:
                raise TraceError(f"line {number}: a second header; a file holds one run, so save each in its own")
            levels = len(event.levels)
        events.append(event)
    if not events:
        raise TraceError(f"the file is empty; {_CHOOSE}")
    return events


def bytes_of(path: str | Path, max_bytes: int) -> bytes:
    """The bytes of a file.

    Raises:
        TraceError: it is not a regular file, or too large. OSError: it cannot be read.
    """
    try:
        return read_bytes(path, max_bytes)
    except ValueError as error:
        raise TraceError(str(error)) from None


def event_of(number: int, line: bytes, levels: int) -> Event:
    """The event of a line of a trace with this number of levels; with 0, its header.

    Raises:
        TraceError: it is not one, or of a schema that this version does not know.
    """
    try:
        event = read_event(line, levels) if levels else read_header(line)
    except UnknownSchema as error:
        raise TraceError(f"line {number}: {error}") from None
    except ValueError as error:
        if isinstance(error, Malformed) and not error.text:
            raise TraceError(f"line {number}: this is not a trace: the file is not text; {_CHOOSE}") from None
        raise TraceError(f"line {number}: {error}. {_CURE}") from None
    if event is None:
        raise TraceError(f"line {number}: this is not a trace: its first line is not a header; {_CHOOSE}")
    return event


def numbered(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of an unpacked file that are not blank, with their numbers.

    Raises:
        TraceError: a line is too long, or there are too many.
    """
    try:
        yield from lines(io.BytesIO(data), most=MAX_RECORDS)
    except TooLong as error:
        if error.line:
            raise TraceError(f"line {error.line}: {error}, which no event of a run is. {_CURE}") from None
        raise TraceError(f"the trace has {error}; download it again or record a shorter run") from None


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """A file's bytes, unpacked if they are gzip.

    Raises:
        TraceError: damaged or too large.
    """
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(max_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise TraceError(f"the compressed file is damaged ({error}); download it again") from None
    if len(data) > max_bytes:
        raise TraceError(f"the trace is larger than {max_bytes / 1e6:g} MB; record a shorter run")
    return data
