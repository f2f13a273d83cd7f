"""Files that visitors bring, read in a process of their own: what a file costs, nobody else feels.

The process gets the file, answers with what the page shows, packed, and ends; so its memory and its share of the
processor are bounded, and the server keeps only what the figures need.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import subprocess
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from app.payload import Wire
from app.recordings import MAX_FILE, MAX_UNPACKED, RecordingError, recorded_state
from app.settings import run_id, whole_text
from hsd_core.codec import encode, plain
from hsd_core.trace import Bonus, Correct, Event, Kv, Rollback, Verify
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check

KEPT = 6  # files whose figures can be drawn
MAX_KEPT = 3 * 10**6  # bytes of each of them, unpacked: a run of 512 tokens with its depths takes 2 MB
MAX_ANSWER = 80 * 10**6  # bytes of what the page is sent, unpacked
WAITING = 4  # each of them holds a thread and a file
PATIENCE_S = 90.0  # for a turn, and then for the process, which shares the processor with a run
CPU_S = 30  # of the process; 10,000 tokens with all details take 15
MEMORY = 3 * 2**30  # bytes of the process's addresses, where the system can bound them
_ROOT = Path(__file__).resolve().parent.parent


class Reader:
    """Opens one file at a time. Who comes when `WAITING` wait, or waits too long, is sent away."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._seats = threading.Semaphore(WAITING + 1)
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def open(self, data: Any) -> bytes:
        """The payload, as gzip, of a file that a visitor sent as `{"run", "name", "base64"}`.

        Raises:
            RecordingError: too large, no trace, or one that contradicts itself; RequestError: the run has no name.
        """
        packed = _sent(data)
        name, title = run_id(data.get("run")), whole_text(str(data.get("name", ""))[:120])
        busy = RecordingError("others are opening files; try again in a minute")
        if not self._seats.acquire(blocking=False):
            raise busy
        try:
            if not self._turn.acquire(timeout=PATIENCE_S):
                raise busy
            try:
                answer = _elsewhere(encode({"run": name, "title": title}) + b"\n" + packed)
            finally:
                self._turn.release()
        finally:
            self._seats.release()
        head, _, parts = answer.partition(b"\n")
        said = plain(head)
        if "error" in said:
            raise RecordingError(said["error"])
        self._kept[name] = parts[: said["kept"]]
        while len(self._kept) > KEPT:
            with suppress(KeyError):  # another thread may have been faster
                self._kept.popitem(last=False)
        return parts[said["kept"] :]

    def events(self, name: str) -> list[Event]:
        """What the figures need of an opened file; nothing once it is no longer kept."""
        kept = self._kept.get(name)
        return [] if kept is None else tracefile.read(kept)


def _sent(data: Any) -> bytes:
    text = data.get("base64") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise RecordingError("no file arrived; choose a .jsonl or .jsonl.gz trace")
    if len(text) > MAX_FILE * 4 // 3 + 4:
        raise RecordingError(
            f"the file is larger than {MAX_FILE // 2**20} MB, which no trace of one run is when it is packed with gzip"
        )
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RecordingError("the file was damaged on its way here; try again") from error


def _elsewhere(question: bytes) -> bytes:
    command = [sys.executable, "-m", "app.reader"]
    try:
        done = subprocess.run(
            command, input=question, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=_ROOT, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        raise _too_long() from None
    if done.returncode != 0 or not done.stdout:
        raise _too_long()
    return done.stdout


def _too_long() -> RecordingError:
    return RecordingError(
        f"the file could not be read within {CPU_S} s and {MEMORY // 2**30} GB; record a shorter run, or one with "
        "fewer details, or read it on your own machine: python -m hsd_core trace FILE"
    )


def main(source: IO[bytes], sink: IO[bytes]) -> None:
    """The process: a line of JSON and a file come in, a line of JSON and the packed payload go out."""
    asked = plain(source.readline())
    try:
        events = opened(source.read())
        shown = _payload(asked["run"], asked["title"], events)
    except RecordingError as error:
        sink.write(encode({"error": whole_text(str(error))[:2000]}))
        return
    kept = _kept(events)
    sink.write(encode({"kept": len(kept)}) + b"\n" + kept + shown)


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
        raise RecordingError(f"the trace contradicts itself: {faults[0]}. Download it again or record the run again")
    return events


def _payload(run: str, title: str, events: list[Event]) -> bytes:
    """The final payload of a run, as gzip, written record by record."""
    wire, packed, size = Wire(), io.BytesIO(), 0
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
                raise RecordingError(f"the page would need more than {MAX_ANSWER / 1e6:g} MB; record a shorter run")
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


def _bound() -> None:
    """Little priority, and no more memory and time than a file may cost."""
    import gc
    import os

    gc.disable()  # a trace is no garbage, and looking for some takes a third of the time
    with suppress(ImportError, OSError, ValueError, AttributeError):  # not every system has these
        os.nice(5)
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    _bound()
    main(sys.stdin.buffer, sys.stdout.buffer)
