"""The wire: events become the JSON payloads that the page's Stage component applies.

A payload is `{"run", "from", "ev", "final", "status"}`. `ev` holds the events as `trace.codec.to_dict` writes them, in
order, with a snapshot pseudo-event after each commit, so that the page needs no definition of a metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hsd_core.trace import Commit, Event
from hsd_core.trace.codec import to_dict
from hsd_core.trace.metrics import Meter
from hsd_core.trace.typed import encode


class Wire:
    """Turns the events of one run, fed in order, into records for the page."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._meter = Meter()

    def feed(self, event: Event) -> None:
        """Append the event's record and, after a commit, the snapshot of the metrics so far."""
        self._meter.feed(event)
        self.records.append(to_dict(event))
        if isinstance(event, Commit):
            snapshot = self._meter.snapshot()
            self.records.append({**snapshot, "event": "snapshot", "round": event.round, "t": event.t})


def records(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The records of a whole trace."""
    wire = Wire()
    for event in events:
        wire.feed(event)
    return wire.records


def status(mode: str, text: str, *, title: str = "", detail: str = "", **more: Any) -> dict[str, Any]:
    """What the title bar says. `mode`: live | recorded | loading | waiting | error | idle."""
    return {"mode": mode, "text": text, "title": title, "detail": detail, **more}


def seconds(value: float) -> str:
    """An estimated time in words, rounded up: seconds in steps of five, from 90 s on minutes."""
    return f"about {5 * max(1, math.ceil(value / 5))} s" if value < 90 else f"about {math.ceil(value / 60)} min"


def payload(run: str, start: int, ev: list[dict[str, Any]], final: bool, state: dict[str, Any]) -> dict[str, Any]:
    """Records `start`.. of a run; `final` payloads hold them all (start = 0)."""
    return {"run": run, "from": start, "ev": ev, "final": final, "status": state}


def dumps(value: Any) -> str:
    """Compact JSON; a string crosses Gradio's diffing and the browser's state proxies at a fraction of the cost."""
    return encode(value).decode()
