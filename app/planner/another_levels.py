"""Is another level worth it? What `AnotherLevel` answers to the page's questions; that of the last profiles is kept,
because a slider asks again and again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from app.planner.desk import given, time_limit
from app.planner.profiles.plan_request import PlannerError, parse
from app.planner.profiles.turn import turned
from app.words import planner as says
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.kept import digest
from hsd_core.theory.search.another_level import AnotherLevel

KEPT = 8  # profiles


class AnotherLevels:
    """Works answers out. One thread uses it."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AnotherLevel] = OrderedDict()

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
        name = digest(profile)
        try:
            known = self._known.get(name) or AnotherLevel(profile, check)
            known.check = check
            self._known[name] = known
            self._known.move_to_end(name)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return known.answer(None if agreement is None else float(agreement))
        except ProfileError as error:
            raise PlannerError(str(error), "profile") from error
