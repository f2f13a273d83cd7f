"""Who plans next: visitors take turns at the worker's processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from app.serve.line import turns
from app.tabs.planner import words as says
from app.tabs.planner.profiles.plan_request import PlannerError
from app.tabs.planner.worker import PROCESSES
from app.words import page

OWN = 8  # questions of one visitor that may wait
ALL = 64  # questions that may wait
PATIENCE_S = 15.0

T = TypeVar("T")


class PlanTurns:
    """As many questions at a time as there are processes, one of each visitor; belongs to one event loop."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(PROCESSES, thread_name_prefix="planner")
        self._turns = turns.Turns(at_once=PROCESSES, own=OWN, most=ALL)

    async def work(self, visitor: str, make: Callable[[], T]) -> T:
        """What `make` gives, worked out when it is this visitor's turn.

        Raises:
            PlannerError: too many wait, this visitor's own or all together, or it took too long until its turn.
        """
        try:
            async with self._turns.turn(visitor, PATIENCE_S):
                return await asyncio.get_running_loop().run_in_executor(self._worker, make)
        except turns.Full as full:
            said = {"own": says.own_questions(OWN), "all": says.all_questions(ALL), "late": page.waited(PATIENCE_S)}
            raise PlannerError(said[full.why]) from None
