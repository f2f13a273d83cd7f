"""One at a time, and so many may wait: who finds no seat, or waits too long, is sent away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Busy(Exception):
    """No seat was free, or the turn did not come in time."""


class Seats:
    """Of one piece of work. Each that waits holds a thread of the server.

    Args:
        waiting: how many may wait. patience: seconds that each of them waits at most.
    """

    def __init__(self, waiting: int, patience: float) -> None:
        self._turn = threading.Lock()
        self._free = threading.Semaphore(waiting + 1)
        self._patience = patience

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Held while the work is done.

        Raises:
            Busy: it is not this one's turn.
        """
        if not self._free.acquire(blocking=False):
            raise Busy
        try:
            if not self._turn.acquire(timeout=self._patience):
                raise Busy
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._free.release()
