"""Who has figures drawn: one run at a time, the last drawings kept, so that nobody holds the server with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from app.figures import draw, undrawn
from app.seats import Busy, Seats
from hsd_core.trace import Event

KEPT = 24  # drawings; a recording's are asked for again and again
WAITING = 6  # each holds a thread of the server
PATIENCE_S = 10.0


class Drawings:
    """Thread-safe. Who comes when `WAITING` wait, or waits longer than `PATIENCE_S`, gets a note that says so."""

    def __init__(self) -> None:
        self._seats = Seats(WAITING, PATIENCE_S)
        self._kept: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()

    def of(self, run: str, events: Callable[[], Sequence[Event]], *, size: int, **look: bool) -> list[Any]:
        """What fills the panels of `figures.build`. `size`: tells a run that has grown from what was drawn of it;
        `look`: as `figures.draw` takes it."""
        try:
            with self._seats.turn():
                return self._drawn((run, size, *sorted(look.items())), events)
        except Busy:
            return _named(run, undrawn())

    def _drawn(self, key: tuple[Any, ...], events: Callable[[], Sequence[Event]]) -> list[Any]:
        if key not in self._kept:
            self._kept[key] = _named(key[0], draw(events(), **dict(key[2:])))
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]


def _named(run: str, parts: list[Any]) -> list[Any]:
    """The notes say whose figures they are, so that the page shows none beside another run."""
    return [{**part, "run": run} if isinstance(part, dict) and "columns" in part else part for part in parts]
