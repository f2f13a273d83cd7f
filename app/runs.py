"""The runs that the server knows: who waits, who was asked to stop, and the records of the last few."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from hsd_core.trace import Event

KEEP = 24
OPENED = 6  # files that visitors opened
QUEUE = 20  # runs that may wait
STALE_S = 15.0  # a waiting page asks for its place every 2 s, so this one was closed
LOST_S = 10.0  # a run with nobody before it begins at once, so this one never reached the queue


@dataclass(slots=True)
class Run:
    """One run. `records` only grows; `stage` is waiting | running | done; `polled` is when its page last asked."""

    name: str
    stage: str = "waiting"
    stopped: threading.Event = field(default_factory=threading.Event)
    records: list[dict[str, Any]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    opened: bool = False
    polled: float = field(default_factory=time.monotonic)
    first_since: float | None = None  # since when nobody is before it


class Runs:
    """Thread-safe; keeps the last `KEEP` finished runs so that a page that lost its stream can catch up."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()

    def announce(self, name: str, *, opened: bool = False) -> Run:
        """The run of this name, made when it is new; `opened` when it comes from a file."""
        with self._lock:
            run = self._runs.setdefault(name, Run(name, opened=opened))
            done = [n for n, r in self._runs.items() if r.stage == "done"]
            for old in done[: max(0, len(done) - KEEP)]:
                del self._runs[old]
            files = [n for n, r in self._runs.items() if r.opened]
            for old in files[: max(0, len(files) - OPENED)]:
                del self._runs[old]
            waiting = [n for n, r in self._runs.items() if r.stage == "waiting" and n != name]
            for old in waiting[: max(0, len(waiting) - KEEP)]:
                del self._runs[old]
            return run

    def get(self, name: str) -> Run | None:
        with self._lock:
            return self._runs.get(name)

    def stop(self, name: str) -> None:
        """Ask a run to end at the next round; a run that still waits ends before it starts."""
        run = self.get(name)
        if run is not None:
            run.stopped.set()

    def ahead(self, name: str) -> int:
        """How many runs are running or wait before this one; waiting runs whose page was closed do not count."""
        now = time.monotonic()
        with self._lock:
            run = self._runs.get(name)
            if run is not None:
                run.polled = now
            names = [n for n, r in self._runs.items() if r.stage == "running" or _waits(r, now)]
            before = names.index(name) if name in names else len(names)
            if run is not None:
                run.first_since = None if before or run.stage != "waiting" else run.first_since or now
            return before

    def lost(self, run: Run) -> bool:
        """Whether a run waits although nobody is before it: the queue was full or the server was restarted."""
        self.ahead(run.name)
        return run.first_since is not None and time.monotonic() - run.first_since > LOST_S


def _waits(run: Run, now: float) -> bool:
    return run.stage == "waiting" and not run.stopped.is_set() and now - run.polled <= STALE_S
