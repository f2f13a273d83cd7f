"""A crowd before the line, on a clock of its own: who comes when, asks for what, and leaves."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

from app.serve.line.known_runs import Run, Visitor
from app.serve.line.line import Line, LinePlace, Refused
from app.serve.line.run_lengths import RunKind

STEP_S = 0.25


@dataclass
class Guest:
    """One run of a visitor. takes: engine seconds if it comes to its end; stays: after so many seconds of its turn it
    is stopped; waits: after so many in line it is left."""

    comes: float
    visitor: Visitor
    kind: RunKind
    takes: float
    stays: float = 1e9
    waits: float = 1e9
    refused: str = ""
    said: tuple[float, float] | None = None  # of its wait, when it came
    began: float | None = None


class Crowd:
    """Lets guests come, wait, run and leave, in steps of `STEP_S`. order: whose turn came when."""

    def __init__(self, guests: list[Guest]) -> None:
        self.guests, self.order = guests, list[Guest]()
        self._now = 0.0
        self._line = Line(lambda: self._now)
        self._waiting: list[tuple[Guest, Run, LinePlace]] = []
        self._running: tuple[Guest, Run] | None = None

    def go(self) -> Crowd:
        """Until the last one has left."""
        coming = deque(sorted(self.guests, key=lambda guest: guest.comes))
        while coming or self._waiting or self._running:
            self._now += STEP_S
            self._end()
            while coming and coming[0].comes <= self._now:
                self._come(coming.popleft())
            for one in list(self._waiting):
                self._look(*one)
        return self

    def _come(self, guest: Guest) -> None:
        run = Run(f"{id(guest)}", guest.visitor, kind=guest.kind)
        try:
            self._waiting.append((guest, run, self._line.admit(run)))
            guest.said = self._line.place(run)[1]
        except Refused as error:
            guest.refused = str(error)

    def _look(self, guest: Guest, run: Run, place: LinePlace) -> None:
        if place.given_up or self._now > guest.comes + guest.waits:
            run.stop()
        elif self._line.begins(place):
            guest.began, self._running = self._now, (guest, run)
            self.order.append(guest)
        else:
            return
        self._line.withdraw(place)
        self._waiting.remove((guest, run, place))

    def _end(self) -> None:
        if self._running is None:
            return
        guest, run = self._running
        if guest.began is not None and self._now >= guest.began + min(guest.takes, guest.stays):
            self._line.leave(run, whole=guest.takes <= guest.stays)
            self._running = None


def mixed(seed: int, *, hours: float = 1.0, every: float = 14.0) -> list[Guest]:
    """Visitors who come at random: short and long runs, races, quick sets; some stop them, some do not wait."""
    chance, guests, at = random.Random(seed), list[Guest](), 0.0
    sorts = [
        (8, RunKind("run", "smollm2", beside=("baseline",), tokens=96), 9.0),
        (4, RunKind("run", "smollm2", beside=("baseline",), tokens=512), 35.0),
        (4, RunKind("run", "toy", beside=("baseline",), tokens=96), 0.75),
        (2, RunKind("race", "smollm2", tokens=384), 40.0),
        (1, RunKind("quick", "smollm2"), 90.0),
    ]
    while at < 3600 * hours:
        at += chance.expovariate(1 / every)
        _, kind, mean = chance.choices(sorts, [weight for weight, *_ in sorts])[0]
        takes = mean * chance.uniform(0.5, 1.5)  # a text may end before its limit
        guest = Guest(at, Visitor((f"page {len(guests)}",), f"10.0.0.{chance.randrange(6)}"), kind, takes)
        if chance.random() < 0.2:
            guest.stays = takes * chance.random()
        if chance.random() < 0.15:
            guest.waits = chance.uniform(5, 120)
        guests.append(guest)
    return guests
