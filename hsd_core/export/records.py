"""What the page is sent of a run: its events, and the figures that they change.

A record is an event as `trace.codec.to_dict` writes it, or one of two that are the page's own, so that the page needs
no definition of a metric: after each commit a `snapshot` of the run's figures (`repeats_from`: the token from which
on the text goes in circles, None if it does not), after each call of a level a `gauge` with that level's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hsd_core.core.events import Commit, Draft, Event, Verify
from hsd_core.trace.codec import to_dict
from hsd_core.trace.metrics import Meter
from hsd_core.trace.repetition import loop_from


class Wire:
    """Turns the events of one run, fed in order, into records for the page."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._meter = Meter()
        self._ids: list[int] = []
        self._repeats_from: int | None = None

    def feed(self, event: Event) -> None:
        """Append the event's record and the figures that it changes: the run's, or those of the level at work."""
        self._meter.feed(event)
        self.records.append(to_dict(event))
        if isinstance(event, Commit):
            self._ids += [token.id for token in event.tokens]
            if self._repeats_from is None:  # a text that went in circles did, however it ends
                self._repeats_from = loop_from(self._ids)
            figures = {name: value for name, value in self._meter.snapshot().items() if name != "levels"}
            figures["repeats_from"] = self._repeats_from
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
