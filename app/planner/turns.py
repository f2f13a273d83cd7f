"""Who plans next: one worker, at which visitors take turns, so that nobody closes the Planner for the others."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from app.planner.request import PlannerError
from app.words import planner as says

OWN = 8  # questions of one visitor that may wait
ALL = 64  # questions that may wait
PATIENCE_S = 15.0

T = TypeVar("T")


class Turns:
    """One question at a time. Visitors go round in turn, each with its oldest one; belongs to one event loop."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._busy = False

    async def work(self, visitor: str, make: Callable[[], T]) -> T:
        """What `make` gives, worked out when it is this visitor's turn.

        Raises:
            PlannerError: too many wait, this visitor's own or all together, or it took too long until its turn.
        """
        if self._busy:
            await self._turn(visitor)
        self._busy = True
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, make)
        finally:
            self._next()

    async def _turn(self, visitor: str) -> None:
        line = self._lines.get(visitor, deque())
        if len(line) >= OWN:
            raise PlannerError(says.own_questions(OWN))
        if sum(map(len, self._lines.values())) >= ALL:
            raise PlannerError(says.all_questions(ALL))
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        self._lines[visitor] = line
        try:
            await asyncio.wait((turn,), timeout=PATIENCE_S)
        except asyncio.CancelledError:
            self._leave(visitor, turn)
            raise
        if not turn.done():
            self._leave(visitor, turn)
            raise PlannerError(says.waited(PATIENCE_S))

    def _leave(self, visitor: str, turn: asyncio.Future[None]) -> None:
        if turn.done():  # its turn came at the same moment
            self._next()
            return
        line = self._lines[visitor]
        line.remove(turn)
        if not line:
            del self._lines[visitor]

    def _next(self) -> None:
        self._busy = bool(self._lines)
        if self._busy:
            visitor, line = self._lines.popitem(last=False)
            line.popleft().set_result(None)
            if line:
                self._lines[visitor] = line  # behind the others


def visitor(request: Request) -> str:
    """Whom a request is counted for: its address, as a proxy in the same house or network names it."""
    host = request.client.host if request.client else ""
    named = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()[:64]
    try:
        near = ipaddress.ip_address(host).is_private
    except ValueError:
        near = False
    return named if near and named else host
