"""In a class: how many runs learners may have in the line, each and all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.serve.line.known_runs import Run, Visitor
from app.words.room import workshop as says

OF_A_LEARNER = 1
OF_ALL_LEARNERS = 12  # about two minutes of a processor that writes seven answers in one


@dataclass(frozen=True, slots=True)
class ClassCaps:
    """`each`, `all`: runs that run or wait, of one learner and of all learners. The instructor's are not counted."""

    each: int = OF_A_LEARNER
    all: int = OF_ALL_LEARNERS

    def refusal(self, own: Visitor, here: Sequence[Run], later: Callable[[], str]) -> str:
        """Why one more run of this visitor is refused; "" where it is not.

        Args:
            here: the runs that run or wait. later: when to try again, in words.
        """
        if own.leads:
            return ""
        if not own.person:
            return says.JOIN_FIRST
        if sum(one.visitor.person == own.person for one in here) >= self.each:
            return says.of_learner(self.each)
        return says.of_class(self.all, later()) if sum(not one.visitor.leads for one in here) >= self.all else ""
