"""The runs that the server knows: whose they are, who was asked to stop, and the records of the last few."""

from __future__ import annotations

import gzip
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from app.kit.payload import payload
from app.kit.supervised import NOWHERE, Kept
from app.serve.line.run_lengths import ANY, RunKind
from app.words import run as says
from hsd_core.core.events import Event
from hsd_core.trace.codec import from_dict
from hsd_core.typed import encode, plain

KEEP = 24
KEEP_BYTES = 32 * 2**20  # of finished runs, compressed
OPENED = 6  # files that visitors opened
RETURN_S = 6.0  # so long a run goes on without the page that left it: one that is reloaded comes back for its run
CUT_S = 30.0  # and without a page whose connection was cut: one that is closed says so
AWAY_S = 600.0  # so long a run that waits keeps its place for a page that is closed
_FILE = "run-"  # begins the names of what is kept of runs
Written: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # the ids of a prompt and of its output
FIGURES = frozenset({"snapshot", "gauge", "race", "load", "loadevent"})  # the page's own records, which are no events


class NameTaken(ValueError):
    """A run's name that another run has."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whose run it is: the names under which its answer is heard, the first being the session; the address as the
    server sees it; whether a page of that session is open. In a class, `person`: whose browser it is, "" for none of
    the room; `leads`: it is the instructor's; `answered`: it has answered a question."""

    names: tuple[str, ...] = ("",)
    address: str = ""
    page: bool = True
    person: str = ""
    leads: bool = False
    answered: bool = False

    @property
    def session(self) -> str:
        return self.names[0]


@dataclass(slots=True, eq=False)
class Run:
    """One run. `stage` is waiting | running | done. Once done, its records are kept compressed."""

    name: str
    visitor: Visitor = field(default_factory=Visitor)
    hears: Callable[[tuple[str, ...]], bool] = lambda _: True
    gone: Callable[[tuple[str, ...]], bool] = lambda _: False
    kind: RunKind = ANY
    group: Callable[[], Hashable | None] = lambda: ""  # see `Engine.group`
    stage: str = "waiting"
    stopped: threading.Event = field(default_factory=threading.Event)
    cut: bool = False  # it was asked to end before its end
    loading: float = 0.0  # s, of its turn, for which weights were fetched and opened
    state: dict[str, Any] = field(default_factory=dict)
    opened: bool = False
    live: list[dict[str, Any]] = field(default_factory=list)  # records, only while it runs
    sent: int = 0  # of them, in payloads so far
    packed: bytes = b""
    written: tuple[Written, ...] = ()  # once it is done
    preset: str | None = None  # of what is written
    looked: float = -RETURN_S  # when a page that has no stream of it last asked for its records
    left: bool = False  # its page said that it is closed
    in_line: bool = False  # it has a place there, which is kept for a page that is closed

    def heard(self) -> bool:
        """Whether somebody listens for its answer."""
        return self.hears(self.visitor.names)

    def followed(self) -> bool:
        """Whether a page asked for its records lately."""
        return time.monotonic() - self.looked < RETURN_S

    def away(self) -> bool:
        """Whether its page is closed, or has lost it."""
        return self.visitor.page and not self.heard() and not self.followed()

    def over(self) -> bool:
        """Whether it is to end: it was stopped, or nobody has listened, or asked for its records, for a while. Asked
        before every forward."""
        if not self.stopped.is_set() and not self.followed() and self.gone(self.visitor.names):
            self.stop()
        return self.stopped.is_set()

    def stop(self) -> None:
        """Ask it to end."""
        self.cut = True
        self.stopped.set()

    def said(self, *, final: bool = False) -> dict[str, Any]:
        """A payload of its state alone."""
        return payload(self.name, 0, [], final, self.state)

    def wrote(self, *, final: bool = False) -> dict[str, Any]:
        """A payload of its state and of the records that no payload held before."""
        start, self.sent = self.sent, len(self.live)
        return payload(self.name, start, self.live[start : self.sent], final, self.state)

    def done(self) -> None:
        """It is over: what it wrote is kept compressed, at about a twentieth of the memory."""
        if self.stage != "done":
            if self.live:
                self.packed = gzip.compress(encode(self.live), 1)
                self._file(self.live)
            self.stage, self.live = "done", []

    def _file(self, records: list[dict[str, Any]]) -> None:
        head = next((one for one in records if one["event"] == "header"), None)
        if head is not None and self.state.get("mode") == "live":  # no run that ended the engine
            ids = tuple(token["id"] for one in records if one["event"] == "commit" for token in one["tokens"])
            self.preset, self.written = head.get("preset"), ((tuple(head["prompt_ids"]), ids),)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the page is shown of it; only grows."""
        packed = self.packed
        if not packed:
            return self.live
        records: list[dict[str, Any]] = plain(gzip.decompress(packed))
        return records

    @property
    def events(self) -> list[Event]:
        """The events it has written so far."""
        return [from_dict(record) for record in list(self.records) if record["event"] not in FIGURES]


class Runs:
    """Thread-safe; keeps the last finished runs, so that a page that lost its stream can catch up.

    Args:
        kept: where finished runs outlive this process, and those of its predecessor are found.
    """

    def __init__(self, kept: Kept = NOWHERE) -> None:
        self._kept = kept
        self._runs: OrderedDict[str, Run] = OrderedDict()
        for file in kept.names(_FILE):
            if data := kept.get(file):
                head, _, packed = data.partition(b"\n")
                name = file.removeprefix(_FILE)
                with suppress(ValueError):
                    self._runs[name] = Run(name, stage="done", packed=packed, **plain(head))
        self._early: deque[str] = deque(maxlen=100)  # names of runs that were stopped before they were known
        self._lock = threading.Lock()

    def announce(self, run: Run) -> Run:
        """Make a run known by its name.

        Raises:
            NameTaken: there is one of this name.
        """
        with self._lock:
            if run.name in self._runs:
                raise NameTaken(says.NAME_KNOWN)
            if run.name in self._early:
                run.stop()
            self._runs[run.name] = run
            self._forget([r for r in self._runs.values() if r.opened], OPENED)
            self._forget([r for r in self._runs.values() if r.stage == "done"], KEEP)
            return run

    def keep(self, run: Run) -> None:
        """Have a finished run outlive this process."""
        if run.packed:
            self._kept.put(_FILE + run.name, encode({"state": run.state, "opened": run.opened}) + b"\n" + run.packed)

    @property
    def unknown(self) -> str:
        """Why a run may be unknown here, in words."""
        return says.RESTARTED if self._kept.ends else says.NO_LONGER

    def get(self, name: str) -> Run | None:
        with self._lock:
            return self._runs.get(name)

    def written(self, session: str, preset: str) -> tuple[Written, ...]:
        """What the known runs of a session wrote, the oldest first."""
        with self._lock:
            known = [run for run in self._runs.values() if session and run.visitor.session == session]
        return tuple(one for run in known if run.preset == preset for one in run.written)

    def leave(self, name: str) -> None:
        """The page of a run is closed, or reloaded."""
        if (run := self.get(name)) is not None:
            run.left = True

    def stop(self, name: str) -> None:
        """Ask a run to end at its next forward; a run that still waits ends before it starts."""
        with self._lock:
            run = self._runs.get(name)
            if run is None:
                self._early.append(name)
            else:
                run.stop()

    def _forget(self, runs: list[Run], keep: int) -> None:
        """Keep the last `keep` of these runs, and of them no more than `KEEP_BYTES`."""
        held = 0
        for place, run in enumerate(reversed(runs)):
            held += len(run.packed)
            if place >= keep or (place and held > KEEP_BYTES):
                del self._runs[run.name]
                self._kept.drop(_FILE + run.name)
