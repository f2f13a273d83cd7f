"""Recorded runs: the bundled ones, in the order of their file names. `reader.py` opens those that a visitor brings."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.faults import bare
from app.kit.packed import PackedBody
from app.kit.payload import dumps, payload, status
from app.kit.static import ROUTE
from app.words import run as says
from hsd_core.core.events import Event, Header
from hsd_core.export.run_page import page_records
from hsd_core.trace import file as tracefile
from hsd_core.trace.codec import MAX_LEVELS, read_event, read_header
from hsd_core.trace.conventions import clock_of
from hsd_core.trace.metrics import measure, speed_up
from hsd_core.typed import Malformed, Wrong, builtins, decode, encode, json_decoder, opened

MAX_FILE = 8 * 2**20  # 10,000 tokens with all details are 7 MB packed; a run of this page's is below 0.5
MAX_CALL = MAX_FILE * 4 // 3 + 4096  # bytes of the request that brings such a file
MAX_UNPACKED = 40 * 10**6
PREFIX = "recorded-"
_TIMED = (b'{"event":"prefill"', b'{"event":"commit"', b'{"event":"baseline"')  # what the speed-up is made of
_PRICED = b'{"event":"report"', b'"price":{'
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
            lines = (x for x in file if x.startswith(_TIMED) or (x.startswith(_PRICED[0]) and _PRICED[1] in x))
            timed = [header, *(read_event(line, MAX_LEVELS) for line in lines)]
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
            "spared": None,
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
        "speed_up": speed_up(timed),
        "spared": None if header.lossless else _spared(timed),
        "clock": clock_of(header),
        "reason": "",
    }


def _spared(events: list[Event]) -> float | None:
    """The share of tokens that are not the target's own choice; None where that was not read."""
    found = measure(events)
    return found["spared"] / found["committed"] if found.get("spared") is not None and found["committed"] else None


def _day(stamp: str) -> str:
    return stamp[:10]


# ---- The bundled recordings, as the page asks for them: each is read and checked once, then sent packed


RECORDING = f"{ROUTE}/recordings/{{name}}"


def recording_route(recordings: Recordings) -> Route:
    """GET of a recording's name: its final payload; where there is none, a payload that says why."""
    making = asyncio.Lock()

    def made(name: str) -> bytes:
        return dumps(recordings.payload(name)).encode()

    def packed(name: str) -> PackedBody:
        return PackedBody(lambda: made(name), "application/json", making)

    ready = {entry["name"]: packed(entry["name"]) for entry in recordings.menu()}
    others: list[asyncio.Task[None]] = []

    async def prepare() -> None:
        for one in ready.values():
            with suppress(RecordingError):  # whoever asks for it is told
                await one.prepare()

    async def served(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            reply = await (ready[name] if name in ready else packed(name))(request)
        except RecordingError as error:
            refused = payload("", 0, [], True, status("error", str(error)))
            return Response(dumps(refused), status_code=404, media_type="application/json")
        if not others:
            others.append(asyncio.create_task(prepare()))
        return reply

    return Route(RECORDING, served, methods=["GET"])


# ---- How the menu of recordings is arranged: groups by what they teach, and a line for each on what to see in it


FILE = "menu.json"


class ShelfPlace(msgspec.Struct, frozen=True):
    """Where a recording stands: its group ("" for none), its rank in the menu, what to see in it."""

    group: str = ""
    rank: int = 1_000
    see: str = ""


class _Group(msgspec.Struct):
    title: str
    recordings: dict[str, str]  # by name: what to see


class _Menu(msgspec.Struct):
    groups: list[_Group]


_DECODER = json_decoder(_Menu)


def places(folder: Path) -> dict[str, ShelfPlace]:
    """Each recording's place, by name; none where the folder has no arrangement that can be read."""
    try:
        menu = decode((folder / FILE).read_bytes(), _DECODER)
    except FileNotFoundError:
        return {}
    except (OSError, Malformed, Wrong) as error:
        log.warning("%s is passed over: %s", folder / FILE, error)
        return {}
    entries = [(group.title, name, see) for group in menu.groups for name, see in group.recordings.items()]
    return {name: ShelfPlace(group, rank, see) for rank, (group, name, see) in enumerate(entries)}
