"""The wire: events become the JSON payloads that the page's Stage component applies.

A payload is `{"run", "from", "ev", "final", "status"}`. `ev` holds the events as `trace.codec.to_dict` writes them, in
order, with pseudo-events between them, so that the page needs no definition of a metric: after each commit a `snapshot`
of the run's figures, after each call of a level a `gauge` with that level's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hsd_core.trace import Commit, Draft, Event, Verify
from hsd_core.trace.codec import to_dict
from hsd_core.trace.metrics import Meter
from hsd_core.trace.typed import encode


class Wire:
    """Turns the events of one run, fed in order, into records for the page."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._meter = Meter()

    def feed(self, event: Event) -> None:
        """Append the event's record and the figures that it changes: the run's, or those of the level at work."""
        self._meter.feed(event)
        self.records.append(to_dict(event))
        if isinstance(event, Commit):
            figures = {name: value for name, value in self._meter.snapshot().items() if name != "levels"}
            self.records.append({**figures, "event": "snapshot", "round": event.round, "t": event.t})
        elif isinstance(event, Draft | Verify):
            figures = {name: value for name, value in self._meter.level(event.level).items() if name != "waste"}
            self.records.append({**figures, "event": "gauge", "t": event.t1})


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
