"""Questions about a profile that have a screen of their own: is another level worth it, and what systems bring along.

What the last profiles answered is kept, because a slider asks again and again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from app.tabs.planner import words as says
from app.tabs.planner.desk import given, time_limit
from app.tabs.planner.profiles.plan_request import PlannerError, parse
from app.tabs.planner.profiles.turn import turned
from hsd_core.grammar.registry import plugins
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import digest
from hsd_core.theory.search.another_level import AnotherLevel

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
    """Answers what systems bring along (`question.py`; see `hsd_core.cli.plan`). One thread uses it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, _Known[Mapping[str, Any]]]] = {
            one.NAME: (one.SECONDS, _Known(one.answer)) for one in plugins("question")
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
