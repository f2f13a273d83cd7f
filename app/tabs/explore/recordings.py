"""Recorded runs: the bundled ones, in the order of their file names. `reader.py` opens those that a visitor brings."""

from __future__ import annotations

import base64
import hashlib
import logging
import zlib
from pathlib import Path
from typing import Any

from app.kit.faults import bare
from app.kit.payload import payload, status
from app.tabs.explore.shelf import ShelfPlace, places
from app.words import run as says
from hsd_core.core.events import Event, Header
from hsd_core.export.run_page import page_records
from hsd_core.trace import file as tracefile
from hsd_core.trace.codec import MAX_LEVELS, read_event, read_header
from hsd_core.trace.conventions import clock_of
from hsd_core.trace.metrics import speed_up
from hsd_core.typed import builtins, encode, opened

MAX_FILE = 8 * 2**20  # 10,000 tokens with all details are 7 MB packed; a run of this page's is below 0.5
MAX_CALL = MAX_FILE * 4 // 3 + 4096  # bytes of the request that brings such a file
MAX_UNPACKED = 40 * 10**6
PREFIX = "recorded-"
_TIMED = (b'{"event":"prefill"', b'{"event":"commit"', b'{"event":"baseline"')  # what the speed-up is made of
log = logging.getLogger(__name__)


class RecordingError(ValueError):
    """A recording that cannot be shown; the message says why."""


class Recordings:
    """The bundled recordings of a folder. The first by name is what the page opens with."""

    def __init__(self, folder: Path) -> None:
        self._paths = {p.name.removesuffix(".gz").removesuffix(".jsonl"): p for p in sorted(folder.glob("*.jsonl*"))}
        self._places = places(folder)

    def menu(self) -> list[dict[str, Any]]:
        """What the menu shows for each, in name order: its place in the menu, title, stack, levels, preset, machine,
        date, speed-up and whose clock that is, or why it cannot be read. `asked` is the same where the same ids were
        asked of a preset."""
        return [
            {"name": name, **builtins(self._places.get(name, ShelfPlace())), **_summary(path)}
            for name, path in self._paths.items()
        ]

    def events(self, name: str) -> list[Event]:
        """The events of a bundled recording.

        Raises:
            RecordingError: no such recording, or one of another schema.
        """
        return _read(self._path(name))

    def file(self, name: str) -> str:
        """The file of a bundled recording, in base64.

        Raises:
            RecordingError: no such recording, or it cannot be read.
        """
        try:
            return base64.b64encode(self._path(name).read_bytes()).decode()
        except OSError as error:
            raise RecordingError(str(error)) from error

    def _path(self, name: str) -> Path:
        path = self._paths.get(name)
        if path is None:
            raise RecordingError(says.no_recording(name[:80]))
        return path

    def payload(self, name: str) -> dict[str, Any]:
        """A bundled recording as a final payload."""
        return recorded(PREFIX + name, self.events(name))

    def first(self) -> dict[str, Any] | None:
        """The payload that the page opens with: the first that can be read; None when there is none."""
        for name in self._paths:
            try:
                return self.payload(name)
            except RecordingError as error:
                log.warning("the recording %s is passed over: %s", name, error)
        return None


def recorded(run: str, events: list[Event]) -> dict[str, Any]:
    """Events that were recorded before, as a final payload."""
    return payload(run, 0, page_records(events), True, recorded_state(events))


def recorded_state(events: list[Event], title: str = "") -> dict[str, Any]:
    """What the title bar says of events that were recorded before."""
    header = next((e for e in events if isinstance(e, Header)), None)
    if header is None:
        raise RecordingError(says.NO_HEADER)
    where = ", ".join(part for part in (_day(header.recorded), header.machine) if part)
    said = says.recorded_on(where) if where else says.RECORDED
    clock = says.CLOCKS.get(clock_of(header), "{}").format(said)
    return status("recorded", clock, title=title or header.title)


def _read(source: Path) -> list[Event]:
    try:
        return tracefile.read(source)
    except (tracefile.TraceError, OSError) as error:
        raise RecordingError(str(error)) from error


def _summary(path: Path) -> dict[str, Any]:
    try:
        with opened(path) as file:
            header = read_header(file.readline())
            if header is None:
                raise ValueError(says.NOT_A_HEADER)
            # All of it is read: a file that breaks off is found here, not by a visitor.
            timed = [read_event(line, MAX_LEVELS) for line in file if line.startswith(_TIMED)]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        return {
            "title": path.name,
            "stack": "",
            "levels": [],
            "preset": None,
            "asked": "",
            "machine": "",
            "recorded": "",
            "speed_up": None,
            "reason": bare(str(error)),
        }
    return {
        "title": header.title or path.name,
        "stack": header.stack,
        "levels": [{"kind": x.kind, "name": x.name, "label": x.label, "params": x.params} for x in header.levels],
        "preset": header.preset,
        "asked": hashlib.sha256(encode([header.preset, header.prompt_ids])).hexdigest()[:12],
        "machine": header.machine,
        "recorded": _day(header.recorded),
        "speed_up": speed_up([header, *timed]),
        "clock": clock_of(header),
        "reason": "",
    }


def _day(stamp: str) -> str:
    return stamp[:10]
