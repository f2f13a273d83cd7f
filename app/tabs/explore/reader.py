"""Files that visitors bring, read in a process of their own: what a file costs, nobody else feels.

The process gets the file, answers with what the page shows, packed, and ends; so its memory and its share of the
processor are bounded, and the server keeps only what the figures need.
"""

from __future__ import annotations

import base64
import binascii
import gc
import gzip
import io
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from app.kit.elsewhere import Elsewhere, Gone, attend, bound
from app.serve.line.turns import Full, Turns
from app.serve.settings import run_id, whole_text
from app.tabs.explore.recordings import MAX_FILE, MAX_UNPACKED, RecordingError, recorded_state
from app.words import run as says
from hsd_core.core.events import Bonus, Correct, Event, Kv, Rollback, Verify
from hsd_core.export.run_page import RecordStream
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check
from hsd_core.typed import encode, plain

KEPT = 6  # files whose figures can be drawn
MAX_KEPT = 3 * 10**6  # bytes of each of them, unpacked: a run of 512 tokens with its depths takes 2 MB
MAX_ANSWER = 80 * 10**6  # bytes of what the page is sent, unpacked
WAITING = 4  # each of them holds a thread and a file
PATIENCE_S = 90.0  # for a turn, and then for the process, which shares the processor with a run
CPU_S = 30  # of the process; 10,000 tokens with all details take 15
MEMORY = 3 * 2**30  # bytes of the process's addresses, where the system can bound them


class Reader:
    """Opens one file at a time. Who comes when `WAITING` wait, or waits too long, is sent away."""

    def __init__(self) -> None:
        self._turns = Turns(own=WAITING, most=WAITING)
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def open(self, data: Any) -> bytes:
        """The payload, as gzip, of a file that a visitor sent as `{"run", "name", "base64"}`.

        Raises:
            RecordingError: too large, no trace, or one that contradicts itself; RequestError: the run has no name.
        """
        said, parts = self.read(data)
        name = run_id(data.get("run"))
        self._kept[name] = parts[: said["kept"]]
        while len(self._kept) > KEPT:
            with suppress(KeyError):  # another thread may have been faster
                self._kept.popitem(last=False)
        return parts[said["kept"] :]

    def read(self, data: Any, module: str = "app.tabs.explore.reader") -> tuple[dict[str, Any], bytes]:
        """What a process says of a file that a visitor sent, and what it made of it.

        Args:
            module: what reads the file; it takes and gives what `answer` does.
        Raises:
            RecordingError: the file cannot be shown; RequestError: the run has no name.
        """
        packed = _sent(data)
        name, title = run_id(data.get("run")), whole_text(str(data.get("name", ""))[:120])
        question = encode({"run": name, "title": title}) + b"\n" + packed
        try:
            with self._turns.held(PATIENCE_S):
                answer = _elsewhere(module, question)
        except Full:
            raise RecordingError(says.OTHERS_OPEN) from None
        head, _, parts = answer.partition(b"\n")
        said: dict[str, Any] = plain(head)
        if "error" in said:
            raise RecordingError(said["error"])
        return said, parts

    def events(self, name: str) -> list[Event]:
        """What the figures need of an opened file; nothing once it is no longer kept."""
        kept = self._kept.get(name)
        return [] if kept is None else tracefile.read(kept)


def _sent(data: Any) -> bytes:
    text = data.get("base64") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise RecordingError(says.NO_FILE)
    if len(text) > MAX_FILE * 4 // 3 + 4:
        raise RecordingError(says.file_too_large(MAX_FILE // 2**20))
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RecordingError(says.DAMAGED) from error


def _elsewhere(module: str, question: bytes) -> bytes:
    process = Elsewhere(module, patience=PATIENCE_S)
    try:
        return process.ask(question)
    except Gone:
        raise RecordingError(says.unreadable(CPU_S, MEMORY // 2**30)) from None
    finally:
        process.end()


def answer(question: bytes) -> bytes:
    """What the process does: a line of JSON and a file come in, a line of JSON and the packed payload go out."""
    head, _, packed = question.partition(b"\n")
    asked = plain(head)
    try:
        events = opened(packed)
        shown = _payload(asked["run"], asked["title"], events)
    except RecordingError as error:
        return encode({"error": whole_text(str(error))[:2000]})
    kept = _kept(events)
    return encode({"kept": len(kept)}) + b"\n" + kept + shown


def opened(packed: bytes) -> list[Event]:
    """The events of a visitor's file.

    Raises:
        RecordingError: no gzip or JSON lines, too large, not a trace of this schema, or one that contradicts itself.
    """
    try:
        events = tracefile.read(packed, max_bytes=MAX_UNPACKED)
    except tracefile.TraceError as error:
        raise RecordingError(str(error)) from error
    faults = check(events)
    if faults:
        raise RecordingError(says.contradicts(faults[0]))
    return events


def _payload(run: str, title: str, events: list[Event]) -> bytes:
    """The final payload of a run, as gzip, written record by record."""
    wire, packed, size = RecordStream(), io.BytesIO(), 0
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as file:
        start = encode({"run": run, "from": 0, "final": True, "status": recorded_state(events, title)})
        file.write(start[:-1] + b',"ev":[')
        for event in events:
            wire.feed(event)
            text = encode(wire.records)[1:-1]
            wire.records.clear()
            file.write((b"," if size else b"") + text)
            size += len(text)
            if size > MAX_ANSWER:
                raise RecordingError(says.trace_too_large(MAX_ANSWER / 1e6))
        file.write(b"]}")
    return packed.getvalue()


def _kept(events: list[Event]) -> bytes:
    """A trace of what the figures are drawn from, packed; cut off where it would be too long to keep."""
    lines, size = [], 0
    for event in events:
        if isinstance(event, Kv | Rollback):
            continue
        if isinstance(event, Verify):
            bare = (replace(x, p_row=None, q_row=None, residual=None) for x in event.checks)
            event = replace(event, checks=tuple(bare))
        elif isinstance(event, Correct | Bonus):
            event = replace(event, p_row=None)
        lines.append(tracefile.dumps([event]).encode())
        size += len(lines[-1])
        if size > MAX_KEPT:
            lines.pop()
            break
    return tracefile.pack(b"".join(lines))


def read_bounded(answering: Callable[[bytes], bytes]) -> None:
    """What a process that reads files does until the questions end."""
    gc.disable()  # a trace is not garbage, and looking for some takes a third of the time
    bound(memory=MEMORY, cpu_s=CPU_S, nice=5)
    attend(answering)


if __name__ == "__main__":
    read_bounded(answer)
