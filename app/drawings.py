"""Who has figures drawn: one run at a time, the last drawings kept, so that nobody holds the server with them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from app.figures import draw, undrawn
from hsd_core.trace import Event

KEPT = 24  # drawings; a recording's are asked for again and again
WAITING = 6  # each holds a thread of the server
PATIENCE_S = 10.0


class Drawings:
    """Thread-safe. Who comes when `WAITING` wait, or waits longer than `PATIENCE_S`, gets a note that says so."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._seats = threading.Semaphore(WAITING + 1)
        self._kept: OrderedDict[tuple[str, int, bool], list[Any]] = OrderedDict()

    def of(self, run: str, events: Callable[[], Sequence[Event]], *, size: int, dark: bool) -> list[Any]:
        """What fills the panels of `figures.build`. `size`: tells a run that has grown from what was drawn of it."""
        if not self._seats.acquire(blocking=False):
            return undrawn()
        try:
            if not self._turn.acquire(timeout=PATIENCE_S):
                return undrawn()
            try:
                return self._drawn((run, size, dark), events)
            finally:
                self._turn.release()
        finally:
            self._seats.release()

    def _drawn(self, key: tuple[str, int, bool], events: Callable[[], Sequence[Event]]) -> list[Any]:
        if key not in self._kept:
            self._kept[key] = draw(events(), dark=key[2])
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]
