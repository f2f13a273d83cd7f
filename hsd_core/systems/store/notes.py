"""The note of a pass that queries a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hsd_core.core.events import Event, Header, Verify
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Asked(Note, frozen=True):
    """A pass's query of the store: its rows, and its time in ns, which is a part of the pass."""

    rows: Int
    ns: Int

    def figures(self) -> Mapping[str, float]:
        return {"asked": 1, "asked_rows": self.rows, "asked_ms": self.ns / 1e6}


def check_queries(events: Sequence[Event], header: Header) -> Iterable[str]:
    """Every pass of the level with a store queries it, no other pass does, and the query is within the pass."""
    top = len(header.levels) - 1
    stores = {level.index for level in header.levels if "places" in level.params and level.index == top}
    for i, event in enumerate(events):
        if not isinstance(event, Verify):
            continue
        asked = Asked.of(event)
        if (asked is None) == (event.level in stores):
            yield f"event {i} (verify): level {event.level} {'asked no' if asked is None else 'has no'} store"
        elif asked and (asked.rows < event.work.rows - event.work.catch_up or asked.ns > event.t1 - event.t0):
            yield f"event {i} (verify): {asked.rows} rows asked in {asked.ns} ns, of a pass of {event.work.rows} rows"


def lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """The terminal's lines on a run's queries."""
    if (asked := figures.get("asked")) is not None:
        rows, ms = figures["asked_rows"] / asked, figures["asked_ms"] / asked
        yield f"store: {asked} queries of {rows:.1f} rows, {ms:.1f} ms each, {figures['asked_ms']:.0f} ms in all"


NOTES = (Asked,)
CHECKS = (check_queries,)
