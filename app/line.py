"""The line before the engine: one for pages and API calls alike, one run at a time, no more than a share for anyone.

A run stands in line from the moment somebody listens for its answer until it is over, stopped, or its listener left.
Pages and other callers take turns, so that a script with many calls holds up a page by one of them, not by all.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import deque
from collections.abc import AsyncGenerator
from itertools import zip_longest

from app.runs import Run
from app.words import run as says

PLACES = 32  # runs that run or wait
FOR_CALLS = 24  # of them, for callers without an open page: API clients and scripts
OF_A_SESSION = 2
OF_AN_ADDRESS = 28  # behind a proxy, as on a Space, all visitors share one
CALLS_OF_AN_ADDRESS = 20
HEARD_S = 5.0  # how long a run that was asked for may take to find a listener; until then it has no place
LOOK_S = 0.1
RECENT = 8


class Refused(ValueError):
    """A run that finds no place; the message says why and what helps."""


class Left(Exception):
    """Nobody listens for this run any more, or it was stopped, before it began."""


class Line:
    """Belongs to one event loop. `enter` yields until the run's turn has come; `leave` must follow."""

    def __init__(self) -> None:
        self._waiting: list[Run] = []  # in the order of arrival
        self._running: Run | None = None
        self._began = 0.0
        self._page_was_last = False
        self._recent: deque[float] = deque(maxlen=RECENT)  # s, what the last runs took

    @property
    def running(self) -> Run | None:
        """The run whose turn it is."""
        return self._running

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for the run whose turn it is."""
        return any(not run.stopped.is_set() for run in list(self._waiting))

    async def enter(self, run: Run) -> AsyncGenerator[tuple[int, float | None], None]:
        """Wait for this run's turn; yields (runs before it, estimated seconds) every `LOOK_S`.

        Raises:
            Refused: its visitor's share or the line is full. Left: it was stopped, or nobody listens.
        """
        asked = time.monotonic()
        while not run.heard():
            if run.stopped.is_set() or time.monotonic() - asked > HEARD_S:
                raise Left(says.UNHEARD)
            await asyncio.sleep(LOOK_S)
        self._admit(run)
        self._waiting.append(run)
        try:
            while True:
                if run.over():
                    raise Left(says.STOPPED_EARLY)
                if self._running is None and self._order()[:1] == [run]:
                    break
                yield self.place(run)
                await asyncio.sleep(LOOK_S)
            self._running, self._began, self._page_was_last = run, time.monotonic(), run.visitor.page
        finally:
            self._waiting.remove(run)

    def leave(self, run: Run) -> None:
        """The run is over, however it ended; the next one may begin."""
        if self._running is not run:
            return
        self._recent.append(time.monotonic() - self._began)
        self._running = None

    def place(self, run: Run) -> tuple[int, float | None]:
        """How many runs come before this one, and about how many seconds that takes; None while nothing is known."""
        order = self._order()
        before = order.index(run) if run in order else len(order)
        return before + (self._running is not None), self._seconds(before)

    def _seconds(self, before: int) -> float | None:
        if not self._recent:
            return None
        typical = statistics.median(self._recent)
        left = max(0.0, typical - (time.monotonic() - self._began)) if self._running is not None else 0.0
        return left + before * typical

    def _order(self) -> list[Run]:
        """Who waits, in the order in which they will be served."""
        waiting = [run for run in self._waiting if not run.stopped.is_set()]
        kinds = [[run for run in waiting if run.visitor.page is page] for page in (True, False)]
        first, second = kinds[::-1] if self._page_was_last else kinds
        return [run for pair in zip_longest(first, second) for run in pair if run is not None]

    def _admit(self, run: Run) -> None:
        here = [r for r in (self._running, *self._waiting) if r is not None and not r.stopped.is_set()]
        own = run.visitor
        if sum(r.visitor.session == own.session for r in here) >= OF_A_SESSION:
            raise Refused(says.of_session(OF_A_SESSION))
        alike = [r for r in here if r.visitor.page == own.page]
        share = OF_AN_ADDRESS if own.page else CALLS_OF_AN_ADDRESS
        if sum(r.visitor.address == own.address for r in alike) >= share:
            raise Refused(says.of_address(share, self._later()))
        if len(here) >= PLACES:
            raise Refused(says.all_places(PLACES, self._later()))
        if not own.page and len(alike) >= FOR_CALLS:
            raise Refused(says.all_call_places(FOR_CALLS, self._later()))

    def _later(self) -> str:
        typical = self._seconds(1)
        return says.later(typical)
