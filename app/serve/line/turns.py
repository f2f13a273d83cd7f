"""Whose turn it is: so much work at a time, and visitors take turns, so that nobody closes it for the others."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager
from typing import Literal

from starlette.requests import Request


class Full(Exception):
    """`why`: too many of one's "own" wait, too many of "all" visitors do, or the turn came too "late"."""

    def __init__(self, why: Literal["own", "all", "late"]) -> None:
        super().__init__(why)
        self.why = why


class Turns:
    """Visitors go round in turn, each with its oldest question. Thread-safe: what waits is a task or a thread.

    Args:
        at_once: how much may be worked on together; one of each visitor, so that no one takes all.
        own, most: how many questions may wait, of one visitor and all together.
    """

    def __init__(self, *, at_once: int = 1, own: int, most: int) -> None:
        self._free, self._own, self._most = at_once, own, most
        self._lines: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        self._at_work: set[str] = set()  # visitors
        self._lock = threading.Lock()

    @asynccontextmanager
    async def turn(self, visitor: str, patience: float) -> AsyncIterator[None]:
        """Held while this visitor's question is worked on.

        Args:
            patience: seconds that it waits at most.
        Raises:
            Full: too many wait, or it waited too long.
        """
        with self._place(visitor) as turn:
            if not turn.done():
                await asyncio.wait((asyncio.wrap_future(turn),), timeout=patience)
            if not turn.done():
                raise Full("late")
            yield

    @contextmanager
    def held(self, patience: float, visitor: str = "") -> Iterator[None]:
        """As `turn`, for a thread of the server, which it holds while it waits; by default all are one visitor."""
        with self._place(visitor) as turn:
            if not wait((turn,), patience).done:
                raise Full("late")
            yield

    @contextmanager
    def _place(self, visitor: str) -> Iterator[Future[None]]:
        """Done when this visitor's turn has come."""
        turn: Future[None] = Future()
        with self._lock:
            line = self._lines.get(visitor, deque())
            if self._free and visitor not in self._at_work:
                self._free -= 1
                self._at_work.add(visitor)
                turn.set_result(None)
            elif len(line) >= self._own:
                raise Full("own")
            elif sum(map(len, self._lines.values())) >= self._most:
                raise Full("all")
            else:
                line.append(turn)
                self._lines[visitor] = line
        try:
            yield turn
        finally:
            self._leave(visitor, turn)

    def _leave(self, visitor: str, turn: Future[None]) -> None:
        with self._lock:
            if turn.done():  # it had its turn, or that came at the same moment
                self._at_work.discard(visitor)
                self._next()
                return
            line = self._lines[visitor]
            line.remove(turn)
            if not line:
                del self._lines[visitor]

    def _next(self) -> None:
        visitor = next((one for one in self._lines if one not in self._at_work), None)
        if visitor is None:
            self._free += 1
            return
        line = self._lines.pop(visitor)
        self._at_work.add(visitor)
        line.popleft().set_result(None)
        if line:
            self._lines[visitor] = line  # behind the others


def visitor(request: Request) -> str:
    """Whom a request is counted for: its address, as a trusted proxy names it (uvicorn sees to that). In a class, whose
    browsers may share one address, also the browser."""
    address = request.client.host if request.client else ""
    person = getattr(getattr(request.scope.get("app"), "blocks", None), "person", None)
    return f"{address} {person(request.cookies)}" if person else address
