"""What the Planner keeps of its work: the plans of the last questions, and the last answers as text.

A page asks for the numbers first and for the figures of the same plans right after, and every visitor begins with the
same questions.
"""

from __future__ import annotations

import hashlib
import signal
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from app.kit.payload import dumps
from app.tabs.planner import words as says
from app.tabs.planner.answer import Planned, answer, planned
from app.tabs.planner.figures.ink import NARROW, WALL
from app.tabs.planner.profiles.plan_request import Look, PlannerError, PlanQuestion, parse
from app.tabs.planner.profiles.sources import Sources
from hsd_core.typed import Malformed, plain

WORK_S = 1.0  # of a processor, for one answer
PLANS = 8  # each with up to some MB of tables
ANSWERS = 16_000_000  # characters, all together


class Answers:
    """The last answers, by question and look. One thread uses it."""

    def __init__(self, room: int = ANSWERS) -> None:
        self._kept: OrderedDict[Hashable, str] = OrderedDict()
        self._room = room

    def get(self, key: Hashable) -> str | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Hashable, text: str) -> None:
        """Keep an answer; those that were not asked for the longest make room."""
        if key not in self._kept:
            self._kept[key] = text
            self._room -= len(text)
        while self._room < 0:
            self._room += len(self._kept.popitem(last=False)[1])


class Desk:
    """Works answers out. One thread uses it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._plans: OrderedDict[str, tuple[PlanQuestion, Planned]] = OrderedDict()

    def work(self, question: str, look: Look) -> str:
        """The answer to a question, as the page's JSON.

        Raises:
            PlannerError: the question is none or no JSON, or its answer takes longer than `WORK_S`.
        """
        check = time_limit()
        if question not in self._plans:
            asked = parse(given(question))
            self._plans[question] = asked, planned(asked, check)
        self._plans.move_to_end(question)
        while len(self._plans) > PLANS:
            self._plans.popitem(last=False)
        asked, plans = self._plans[question]
        return dumps(answer(plans, look, self._sources.validation(asked), check=check))


def given(question: str) -> Any:
    try:
        return plain(question)
    except Malformed as error:
        raise PlannerError(says.retry(error)) from None


def key_of(question: str, look: Look, stamp: Hashable) -> Hashable:
    """What an answer is kept by: numbers by their question alone. `stamp`: of the validations that answers speak of."""
    drawn = (look.figures, look.dark, look.width < NARROW, look.width >= WALL) if look.figures else ()
    return hashlib.sha256(question.encode()).digest(), stamp, drawn


class Spent(BaseException):
    """The time of a processor is over; no reader that passes over what it cannot read may catch it."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raises `Spent` in the main thread once this process has spent so much of a processor, within a library too; only
    where the system has such a timer."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def spent(number: int, frame: FrameType | None) -> None:
        if within:
            raise Spent

    within = True
    signal.signal(signal.SIGPROF, spent)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        within = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def time_limit(seconds: float = WORK_S) -> Callable[[], None]:
    """Called between the steps of a work, raises once this thread has spent so much of a processor on it."""
    end = time.thread_time() + seconds

    def check() -> None:
        if time.thread_time() > end:
            raise PlannerError(says.ended(seconds))

    return check
