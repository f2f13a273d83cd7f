"""In a class: how many runs learners may have in the line, each and all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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

    def refusal(self, own: Visitor, here: Sequence[Run]) -> str:
        """Why this visitor may not have one more run, whatever others have; "" where it may.

        Args:
            here: the runs that run or wait.
        """
        if own.leads:
            return ""
        if not own.person:
            return says.JOIN_FIRST
        if sum(one.visitor.person == own.person for one in here) >= self.each:
            return says.of_learner(self.each)
        return "" if self.all else says.NO_LEARNERS_RUNS

    def full(self, own: Visitor, here: Sequence[Run]) -> bool:
        """Whether all places of learners are taken."""
        return not own.leads and sum(not one.visitor.leads for one in here) >= self.all

    def gives_way(self, own: Visitor, waiting: Sequence[Run]) -> Run | None:
        """Which run, of those that wait, gives its place to this visitor when all are taken; None if none does.

        It is the last one of the address that has most, if that has at least two more than the visitor's; else, to a
        browser that has answered a question, the last one of its address that has answered none. So one browser that
        took many seats does not keep the others out.

        Args:
            waiting: in the order of arrival.
        """
        learners = [one for one in waiting if not one.visitor.leads]
        counts = Counter(one.visitor.address for one in learners)
        if not counts:
            return None
        (busiest, most), near = counts.most_common(1)[0], counts[own.address]
        if most >= near + 2:
            return [one for one in learners if one.visitor.address == busiest][-1]
        silent = [one for one in learners if one.visitor.address == own.address and not one.visitor.answered]
        return silent[-1] if own.answered and silent else None
