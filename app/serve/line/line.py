"""The line before the engine: one for pages and API calls alike, as many runs at a time as it works on, fair turns for
all.

Runs of one group (`Engine.group`) have their turns together. Where the next one is of another group, or is worked on
alone, it waits until those at work are over. The last free place is not for who has all others, while somebody else
waits.

A run stands in line from the moment somebody listens for its answer until it is over, stopped, or its listener left.
Pages and other callers take turns, so that a script with many calls holds up a page by one of them, not by all; whose
turn it is among pages, and among callers, `Shares` says. When all places are taken, who comes and would have a turn
before the last in line takes its place, so that nobody fills the line for the others. Who closes the page keeps the
place for a while, and lets others go first until it is opened again. In a class the instructor goes first.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from app.serve.line.class_caps import ClassCaps
from app.serve.line.known_runs import Run, Visitor
from app.serve.line.run_lengths import RunLengths, WaitSpan
from app.words import run as says
from app.words.room import workshop as class_says

PLACES = 64  # runs that run or wait
FOR_CALLS = 32  # of them, for callers without an open page: API clients and scripts
OF_A_SESSION = 2
AWAY = 64  # places that are kept for pages which are closed, beside those of who is here
HEARD_S = 5.0  # how long a run that was asked for may take to find a listener; until then it has no place
LOOK_S = 0.1
COMING = 30  # runs, by which it is known how many come
UNKNOWN_S = 10.0  # what a run costs of which nothing is known


class Refused(ValueError):
    """A run that finds no place, or lost it; the message says why and what helps."""


class Left(Exception):
    """Nobody listens for this run any more, or it was stopped, before it began."""


class Line:
    """Belongs to one event loop. `enter` yields until the run's turn has come; `leave` must follow.

    Args:
        clock: in seconds. at_once: how many runs the engine works on at a time.
    """

    def __init__(
        self, clock: Callable[[], float] = lambda: time.monotonic(), at_once: Callable[[], int] = lambda: 1
    ) -> None:
        self._clock, self._at_once = clock, at_once
        self.class_caps: ClassCaps | None = None  # while a class is held
        self._waiting: list[LinePlace] = []  # in the order of arrival
        self._running: list[tuple[Run, float]] = []  # and since when
        self._group: Hashable | None = None  # of those
        self._freed = 0.0
        self._page_was_last = False
        self._lengths = RunLengths()
        self._shares = Shares(self._cost)
        self._coming: deque[tuple[float, float, float]] = deque(maxlen=COMING)  # when, s, behind how many s
        self._promised: dict[str, float] = {}  # to whom, refused, a place was promised by when
        self._known: tuple[object, list[LinePlace], list[WaitSpan | None]] = (None, [], [])
        self._changes = 0

    @property
    def running(self) -> list[Run]:
        """The runs whose turn it is."""
        return [run for run, _ in self._running]

    def runs(self, run: Run) -> bool:
        """Whether it is this one's turn."""
        return any(one is run for one, _ in self._running)

    @property
    def length(self) -> int:
        """How many runs wait for their turn, and somebody for them."""
        return len(self._here())

    @property
    def pace(self) -> float | None:
        """How many answers this server writes in a minute; None while that is not known."""
        pace = self._lengths.pace
        return None if pace is None else pace * self._at_once()

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for the runs whose turn it is."""
        return bool(self._here())

    async def enter(self, run: Run) -> AsyncGenerator[tuple[int, tuple[float, float] | None], None]:
        """Wait for this run's turn; yields its `place` every `LOOK_S`.

        Raises:
            Refused: its visitor's share or the line is full. Left: it was stopped, or nobody listens.
        """
        await self.heard(run)
        place = self.admit(run)
        try:
            while True:
                if run.over():
                    raise Left(says.STOPPED_EARLY)
                if place.given_up:
                    raise Refused(says.place_lost(self._later(run)))
                self.attend(place, away=run.away())
                if self.begins(place):
                    break
                yield self.place(run)
                await asyncio.sleep(LOOK_S)
        finally:
            self.withdraw(place)

    async def heard(self, run: Run) -> None:
        """Wait until somebody listens for a run's answer.

        Raises:
            Left: it was stopped, or nobody does after `HEARD_S`.
        """
        asked = self._clock()
        while not run.heard():
            if run.stopped.is_set() or self._clock() - asked > HEARD_S:
                raise Left(says.UNHEARD)
            await asyncio.sleep(LOOK_S)

    def admit(self, run: Run) -> LinePlace:
        """Give a run a place in line.

        Raises:
            Refused: see `enter`.
        """
        waiting, own = self._here(), run.visitor
        here = [place.run for place in waiting] + self.running
        if sum(r.visitor.session == own.session for r in here) >= OF_A_SESSION:
            raise Refused(says.of_session(OF_A_SESSION))
        if self.class_caps:
            self._in_class(self.class_caps, run, waiting, here)
            waiting = self._here()
            here = [place.run for place in waiting] + self.running
        place = self._shares.place(run, self._clock(), here)
        calls = sum(not r.visitor.page for r in here)
        if not own.leads and (len(here) >= PLACES or (not own.page and calls >= FOR_CALLS)):
            *_, last = in_turn([*(p for p in waiting if p.run.visitor.page == own.page), place])
            if last is place:
                later = self._later(run)
                full = len(here) >= PLACES
                raise Refused(says.all_places(PLACES, later) if full else says.all_call_places(FOR_CALLS, later))
            last.given_up = True
        self._coming.append((place.came, self._cost(run), place.turn - place.came))
        self._waiting.append(place)
        run.in_line = True
        self._changes += 1
        return place

    def _in_class(self, caps: ClassCaps, run: Run, waiting: Sequence[LinePlace], here: Sequence[Run]) -> None:
        """Raises Refused where a class has no place for a run; another may lose its place to it."""
        if why := caps.refusal(run.visitor, here):
            raise Refused(why)
        if not caps.full(run.visitor, here):
            return
        lost = caps.gives_way(run.visitor, [place.run for place in waiting])
        if lost is None:
            raise Refused(class_says.of_class(caps.all, self._later(run)))
        next(place for place in waiting if place.run is lost).given_up = True

    def attend(self, place: LinePlace, *, away: bool) -> None:
        """Whether somebody is here for it."""
        if away == (place.away is not None):
            return
        place.away = self._clock() if away else None
        self._changes += 1
        kept = sorted((p for p in self._waiting if p.away is not None), key=lambda p: p.away or 0.0)
        for longest in kept[: max(0, len(kept) - AWAY)]:
            longest.run.stop()

    def begins(self, place: LinePlace) -> bool:
        """Whether its turn has come; then it runs."""
        if self._next() is not place or not self._fits(place.run):
            return False
        now, self._group = self._clock(), place.run.group()
        # Taking over is part of what a run takes.
        self._running.append((place.run, max(self._freed, place.came)))
        self._page_was_last = place.run.visitor.page
        self._promised = {who: by for who, by in self._promised.items() if by > now}
        self._changes += 1
        return True

    def _fits(self, run: Run) -> bool:
        """Whether it may begin beside those at work."""
        if len(self._running) >= self._at_once():
            return False
        return not self._running or (self._group is not None and run.group() == self._group)

    def _next(self) -> LinePlace | None:
        """Who begins next."""
        order = self._order()
        if len(self._running) == self._at_once() - 1 and order and not order[0].run.visitor.leads:
            for whose in ("address", "session"):
                at_work = {getattr(run.visitor, whose) for run in self.running}
                others = [p for p in order if getattr(p.run.visitor, whose) not in at_work]
                if len(at_work) == 1 and others:
                    return others[0]
        return order[0] if order else None

    def withdraw(self, place: LinePlace) -> None:
        """It waits no longer: its turn has come, or it left."""
        self._waiting.remove(place)
        place.run.in_line = False
        self._changes += 1
        typical = self._lengths.typical(place.run.kind)
        if not self.runs(place.run) and not place.given_up and typical:
            self._lengths.used(typical.seconds, 0.0)

    def leave(self, run: Run, *, whole: bool = True) -> None:
        """The run is over, however it ended; the next one may begin. whole: it came to its end."""
        began = next((since for one, since in self._running if one is run), None)
        if began is None:
            return
        now = self._clock()
        took = max(0.0, now - began - run.loading)
        if typical := self._lengths.typical(run.kind):
            self._lengths.used(typical.seconds, took)
        if whole:
            # Of an engine whose places share its passes, a run that had it alone says nothing of all places at work.
            shared = run.group() != "" and len(self._running) < self._at_once()
            self._lengths.add(run.kind, took, len(self._running) / self._at_once() if shared else 1.0)
        self._shares.had_more(run.visitor, took, now)
        self._running = [(one, since) for one, since in self._running if one is not run]
        self._freed = now
        self._changes += 1

    def place(self, run: Run) -> tuple[int, tuple[float, float] | None]:
        """How many runs come before this one, and about how many seconds that takes (from, to); None while nothing is
        known."""
        order = self._order()
        before = next((i for i, place in enumerate(order) if place.run is run), len(order))
        wait = self._wait(before)
        if wait and before < len(order):
            wait += WaitSpan(self._overtaking(order[before].turn, wait.seconds))
        return before + len(self._running), wait.bounds if wait else None

    def _here(self) -> list[LinePlace]:
        return [p for p in self._waiting if not p.run.stopped.is_set() and not p.given_up and p.away is None]

    def _order(self) -> list[LinePlace]:
        """Who waits, in the order in which they will be served."""
        here = self._here()
        state = self._changes, len(here)
        if self._known[0] != state:
            led = [p for p in here if p.run.visitor.leads]
            pages, calls = ([p for p in here if p.run.visitor.page is page and p not in led] for page in (True, False))
            kinds = [in_turn(pages), in_turn(calls)]
            first, second = kinds[::-1] if self._page_was_last else kinds
            order = led + [p for pair in zip_longest(first, second) for p in pair if p is not None]
            self._known = state, order, self._waits(order)
        return self._known[1]

    def _waits(self, order: Sequence[LinePlace]) -> list[WaitSpan | None]:
        """What the runs before each place take, and at last what all take, the running one left out; None where more of
        them are unknown than known."""
        waits: list[WaitSpan | None] = [WaitSpan()]
        total, known, unknown, share = WaitSpan(), 0, 0, self._lengths.share
        for place in order:
            typical = self._lengths.typical(place.run.kind)
            known, unknown = known + (typical is not None), unknown + (typical is None)
            beside = 1 if place.run.group() is not None else self._at_once()  # what a run alone takes, all places wait
            total += typical.used(share).times(beside) if typical else WaitSpan()
            waits.append(total.times((known + unknown) / known) if known >= unknown else None)
        return waits

    def _wait(self, before: int) -> WaitSpan | None:
        """How long until a place is free for who comes after so many that wait."""
        self._order()
        waits, now = self._known[2], self._left()
        behind = waits[min(before, len(waits) - 1)]
        if behind is None or now is None:
            return None
        return now.used(self._lengths.share) + behind.times(1 / max(1, self._at_once()))

    def _overtaking(self, turn: float, wait: float) -> float:
        """The seconds of runs that will come yet, and have their turns before this one, if they come as of late."""
        now = self._clock()
        if len(self._coming) < COMING or turn <= now:
            return 0.0
        # A class that comes at once does not go on so: in the long run no more come than are served.
        served = sum(cost for _, cost, _ in self._coming) / max(1, self._at_once())
        over = max(now - self._coming[0][0], served, 1.0)
        return sum(cost * min(max(0.0, turn - now - behind), wait) for _, cost, behind in self._coming) / over

    def _left(self) -> WaitSpan | None:
        """What the running run still takes that ends first, or last where the next one needs all places; None while
        that is unknown, as while weights are fetched."""
        free, head = len(self._running) < self._at_once(), self._next()
        if free and (head is None or self._fits(head.run)):
            return WaitSpan()
        now = self._clock()
        known = [
            left
            for run, since in self._running
            if not (run.state.get("stage") in says.FETCHING and run.state.get("mode") == "loading")
            and (left := self._lengths.left(run.kind, now - since - run.loading)) is not None
        ]
        return (max if free else min)(known, key=lambda left: left.seconds, default=None)

    def _cost(self, run: Run) -> float:
        typical = self._lengths.typical(run.kind)
        return typical.seconds if typical else UNKNOWN_S

    def _later(self, run: Run) -> str:
        """When a place becomes free that was not promised to others who were refused."""
        now, own = self._clock(), run.visitor
        who = own.session if own.page else own.address
        self._promised = {name: by for name, by in self._promised.items() if by > now and name != who}
        order = self._order()
        ends = [i for i, place in enumerate(order) if place.run.visitor.page == own.page]
        if any(one.visitor.page == own.page for one in self.running):
            ends.insert(0, -1)
        after = ends[min(len(self._promised), len(ends) - 1)] if ends else len(order) - 1
        wait = self._wait(after + 1)
        if wait is None:
            return says.later(None)
        self._promised[who] = now + wait.seconds
        return says.later(wait.seconds)


# ---- Whose turn is next: who came first, but behind who came later and had less of the engine


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
