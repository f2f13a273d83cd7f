"""Whose turn is next: who came first, but behind who came later and had less of the engine.

An address has a turn for each of its runs, later by the seconds that it has in line already, and by those that the page
had lately. Which of its pages takes a turn is a matter of what each page had. So a first run goes before a tenth, an
address with many pages leaves turns between to the others, and nobody waits for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.serve.line.known_runs import Run, Visitor

HALF_LIFE_S = 600.0  # what a page had counts half after so long
FORGOTTEN_S = 0.05


@dataclass(slots=True, eq=False)
class LinePlace:
    """A run that waits. On the line's clock: when it came; `due`, by which pages of one address have their turns;
    `turn`, by which addresses have. `given_up`: to one that had less of the engine, when all places were taken.
    `away`: since when its page is closed, None while it is here; others go first until it comes back."""

    run: Run
    came: float
    due: float
    turn: float
    given_up: bool = False
    away: float | None = None


class Shares:
    """What pages had of the engine.

    Args:
        expected: the seconds that a run is expected to take.
    """

    def __init__(self, expected: Callable[[Run], float]) -> None:
        self._expected = expected
        self._pages: dict[str, tuple[float, float]] = {}  # by session: seconds, and when

    def had(self, session: str, now: float) -> float:
        """What a page had of the engine lately (s)."""
        seconds, when = self._pages.get(session, (0.0, now))
        return float(seconds * 0.5 ** ((now - when) / HALF_LIFE_S))

    def place(self, run: Run, now: float, others: Sequence[Run]) -> LinePlace:
        """Where a run stands that comes now, behind those that wait or run."""
        own, had = run.visitor, self.had(run.visitor.session, now)
        page, address = (
            sum(self._expected(one) for one in others if getattr(one.visitor, name) == getattr(own, name))
            for name in ("session", "address")
        )
        return LinePlace(run, now, now + had + page, now + had + address)

    def had_more(self, visitor: Visitor, seconds: float, now: float) -> None:
        """A run took so many seconds."""
        self._pages[visitor.session] = (self.had(visitor.session, now) + seconds, now)
        self._pages = {s: held for s, held in self._pages.items() if self.had(s, now) > FORGOTTEN_S}


def in_turn(waiting: Sequence[LinePlace]) -> list[LinePlace]:
    """The order in which their turns come."""
    pages: defaultdict[str, list[LinePlace]] = defaultdict(list)
    for place in sorted(waiting, key=lambda p: p.due)[::-1]:
        pages[place.run.visitor.address].append(place)
    return [pages[turn.run.visitor.address].pop() for turn in sorted(waiting, key=lambda p: p.turn)]
