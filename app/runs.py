"""The runs that the server knows: who waits, who was asked to stop, and the records of the last few."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from hsd_core.trace import Event

KEEP = 24


@dataclass(slots=True)
class Run:
    """One run. `records` only grows; `stage` is waiting | running | done."""

    name: str
    stage: str = "waiting"
    stopped: threading.Event = field(default_factory=threading.Event)
    records: list[dict[str, Any]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)


class Runs:
    """Thread-safe; keeps the last `KEEP` finished runs so that a page that lost its stream can catch up."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()

    def announce(self, name: str) -> Run:
        """The run of this name, made when it is new."""
        with self._lock:
            run = self._runs.setdefault(name, Run(name))
            done = [n for n, r in self._runs.items() if r.stage == "done"]
            for old in done[: max(0, len(done) - KEEP)]:
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
        self.announce(name).stopped.set()

    def ahead(self, name: str) -> int:
        """How many runs are running or were announced before this one."""
        with self._lock:
            names = [n for n, r in self._runs.items() if r.stage != "done"]
        return names.index(name) if name in names else len(names)
