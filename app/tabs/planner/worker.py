"""The Planner's work in other processes, `python -m app.tabs.planner.worker PATIENCE FOLDER`; how they are asked."""

from __future__ import annotations

import gc
import logging
import queue
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from app.kit.elsewhere import Elsewhere, Gone, attend, bound
from app.kit.payload import dumps
from app.tabs.planner import load_map
from app.tabs.planner import words as says
from app.tabs.planner.desk import WORK_S, Desk, Spent, cpu_limit, given, time_limit
from app.tabs.planner.price import Priced, Prices
from app.tabs.planner.profiles.engine_outputs import Outputs, diagnosed
from app.tabs.planner.profiles.length_tables import length_tables
from app.tabs.planner.profiles.plan_request import Look, PlannerError, parse, read
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.profiles.turn import turned
from hsd_core.grammar.registry import plugins
from hsd_core.theory.profiles.by_length import BY_LENGTH
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import digest
from hsd_core.theory.search.another_level import AnotherLevel
from hsd_core.typed import decode, encode, json_decoder


def questions() -> tuple[Any, ...]:
    """Questions to a profile: ours, and those that systems bring along."""
    return load_map, *plugins("question")


QUESTIONS = questions()
PROCESSES = 2  # one that ends, or takes long, stops only who asked; the second starts when two ask at once
PATIENCE_S = 20.0  # for one answer, of which a processor may spend `desk.WORK_S`
MEMORY = 2**30  # bytes of the process's addresses, where the system can bound them


class _Question(msgspec.Struct, omit_defaults=True):
    """A question and how its answer is drawn, or one about another level or lengths of texts, or one that a system
    brings along (its name, and its text), or a profile to check, or stacks to price, or what another engine printed."""

    question: str = ""
    look: Look = Look()
    check: Any = msgspec.UNSET
    price: Priced | None = None
    another: str = ""
    brought: tuple[str, str] | None = None
    lengths: bool = False
    doctor: Outputs | None = None


_QUESTION = json_decoder(_Question)
_REFUSAL = json_decoder(tuple[str, str])


class Worker:
    """Works answers out elsewhere. Thread-safe.

    Args:
        profiles: folder of the profiles and validations that are shipped.
    """

    def __init__(self, profiles: Path) -> None:
        # The one that was used last comes first: it holds the plans that are asked about again.
        self._idle: queue.LifoQueue[Elsewhere] = queue.LifoQueue()
        for _ in range(PROCESSES):
            self._idle.put(Elsewhere(__name__, str(profiles.resolve()), patience=PATIENCE_S))

    def start(self) -> None:
        """Have a process running before the first question, which then need not wait for it."""
        with self._process() as process:
            process.start()

    @contextmanager
    def _process(self) -> Iterator[Elsewhere]:
        process = self._idle.get()
        try:
            yield process
        finally:
            self._idle.put(process)

    def work(self, question: str, look: Look) -> str:
        """What `Desk.work` gives.

        Raises:
            PlannerError: what that raises, or the process ended.
        """
        return self._asked(_Question(question, look))

    def another(self, question: str) -> str:
        """What `AnotherLevels.answer` gives, in JSON.

        Raises:
            PlannerError: what that raises, or the process ended.
        """
        return self._asked(_Question(another=question))

    def brought(self, name: str, question: str) -> str:
        """What `BroughtQuestions.answer` gives, in JSON.

        Raises:
            PlannerError: what that raises, or the process ended.
        """
        return self._asked(_Question(brought=(name, question)))

    def lengths(self) -> str:
        """What `length_tables` gives of the shipped profiles by length, in JSON.

        Raises:
            PlannerError: it takes longer than `desk.WORK_S`, or the process ended.
        """
        return self._asked(_Question(lengths=True))

    def doctor(self, asked: Outputs) -> str:
        """What `diagnosed` gives, in JSON.

        Raises:
            PlannerError: what that raises, or the process ended.
        """
        return self._asked(_Question(doctor=asked))

    def check(self, profile: Any) -> str:
        """A profile as the page may use it, in JSON.

        Raises:
            PlannerError: it is none, or the process ended.
        """
        return self._asked(_Question(check=profile))

    def price(self, asked: Priced) -> str:
        """What `Prices.answer` gives, in JSON.

        Raises:
            PlannerError: the process ended.
        """
        return self._asked(_Question(price=asked))

    def _asked(self, question: _Question) -> str:
        try:
            with self._process() as process:
                said = process.ask(encode(question))
        except UnicodeEncodeError:
            raise PlannerError(says.HALF_CHARACTER) from None
        except Gone:
            raise PlannerError(says.took_too_long(PATIENCE_S, MEMORY / 2**30)) from None
        if said[:1] == b"!":
            raise PlannerError(*decode(said[1:], _REFUSAL))
        return said.decode()


def main(profiles: Path) -> None:
    """The process: answers are JSON objects; a refusal is a "!" and the arguments of its `PlannerError`."""
    desk, prices, others, brought = Desk(Sources(profiles)), Prices(profiles), AnotherLevels(), BroughtQuestions()

    def answer(question: bytes) -> bytes:
        try:
            asked = decode(question, _QUESTION)
            if asked.brought is not None:
                return dumps(brought.answer(*asked.brought)).encode()
            if asked.lengths:
                return dumps(length_tables(profiles / BY_LENGTH.name, time_limit())).encode()
            if asked.doctor is not None:
                with cpu_limit(WORK_S):
                    return dumps(diagnosed(asked.doctor)).encode()
            return _answer(desk, prices, others, asked).encode()
        except PlannerError as error:
            return b"!" + encode((str(error), error.field))
        except Spent:
            return b"!" + encode((says.diagnosis_ended(WORK_S), "texts"))
        except MemoryError:
            raise
        except Exception:
            logging.exception("a question failed")
            return b"!" + encode((says.FAILED, ""))

    gc.freeze()  # what is there now stays, and need not be searched for garbage
    attend(answer)


def _answer(desk: Desk, prices: Prices, others: AnotherLevels, asked: _Question) -> str:
    if asked.another:
        return dumps(others.answer(asked.another))
    if asked.price is not None:
        return dumps(prices.answer(asked.price))
    if asked.check is not msgspec.UNSET:
        return dumps({"profile": read(asked.check).as_dict()})
    return desk.work(asked.question, asked.look)


# ---- questions about a profile that have a screen of their own


KEPT = 8  # profiles

T = TypeVar("T")


class _Known(Generic[T]):
    """What was made of the last profiles. One thread uses it."""

    def __init__(self, make: Callable[[Profile, Callable[[], None]], T]) -> None:
        self._make = make
        self._known: OrderedDict[str, T] = OrderedDict()

    def of(self, profile: Profile, check: Callable[[], None]) -> T:
        name = digest(profile)
        if name not in self._known:
            self._known[name] = self._make(profile, check)
        self._known.move_to_end(name)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return self._known[name]


class AnotherLevels:
    """Works answers out. One thread uses it."""

    def __init__(self) -> None:
        self._known = _Known(AnotherLevel)

    def answer(self, question: str) -> dict[str, Any]:
        """`AnotherLevel.answer` in the profile of a question as `plan_request` reads it, at its `agreement`.

        Raises:
            PlannerError: the question is none, or its answer takes longer than `desk.WORK_S`.
        """
        data, check = given(question), time_limit()
        profile = turned(parse(data))
        agreement = data.get("agreement")
        if agreement is not None and (
            isinstance(agreement, bool) or not isinstance(agreement, int | float) or not 0 <= agreement <= 1
        ):
            raise PlannerError(says.WHICH_AGREEMENT, "agreement")
        try:
            known = self._known.of(profile, check)
            known.check = check
            return known.answer(None if agreement is None else float(agreement))
        except ProfileError as error:
            raise PlannerError(str(error), "profile") from error


class BroughtQuestions:
    """Answers our questions to a profile, and those that systems bring along. One thread uses it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, _Known[Mapping[str, Any]]]] = {
            one.NAME: (one.SECONDS, _Known(one.answer)) for one in questions()
        }

    def answer(self, name: str, question: str) -> Mapping[str, Any]:
        """The answer of the question with this name, in the profile of a question as `plan_request` reads it.

        Raises:
            PlannerError: the question is none, or its answer takes longer than its `SECONDS`.
        """
        seconds, known = self._known[name]
        data, check = given(question), time_limit(seconds)
        try:
            return known.of(turned(parse(data)), check)
        except ProfileError as error:
            raise PlannerError(str(error), "profile") from error


if __name__ == "__main__":
    bound(memory=MEMORY)
    main(Path(sys.argv[2]))
