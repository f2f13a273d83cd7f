"""Several runs at once: their passes are collected, and those through the same layers run as one.

Each run is an iterator of events on a thread of its own, and exactly one thread runs at a time: a run goes on until a
decoder offers a pass (`models/joint_pass.py`) or, without passes, until a round is over. When every run waits, the
cheapest passes are run, so that drafts are finished first and as many runs as possible meet in a pass of the target.
So batches, and the order of events, depend on the runs only. What a run decides depends on its own choices and states:
its text is the text that it has alone, up to the last bits of products of more rows.

A run joins when there is room, and makes room when it ends. All times are of one clock, which stops while the consumer
holds the generator; a run's own clock begins when it joins, and goes on while it waits for others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.clock import EngineClock
from hsd_core.core.driver import Stopped
from hsd_core.core.events import Commit, Event
from hsd_core.models.joint_pass import JOINS, Offered, Shared
from hsd_core.models.threads import torch_with

ROWS = 512  # of a joint pass, at most
TURNS = 2  # of a run between two passes of others: the end of a round, and the next pass

# Given the run's clock and a function to be asked before every pass (`Watcher.stop`), it makes the run.
MakeRun = Callable[[EngineClock, Callable[[], bool]], Iterator[Event]]


class Batch:
    """Runs that are decoded together, at most `most` at a time; others wait in order."""

    def __init__(self, most: int) -> None:
        """
        Raises:
            ValueError: `most` is less than 1.
        """
        if most < 1:
            raise ValueError(f"a batch of {most} runs; it takes at least 1")
        self._most, self.clock = most, _BatchClock()
        self._waiting: deque[_Run] = deque()
        self._live: list[_Run] = []
        self._count = 0
        self._nbytes: dict[Hashable, int] = {}

    def add(self, make: MakeRun, meets: Callable[[Event], bool] | None = None) -> int:
        """Queue a run, also while others are decoded; returns its number. With the first of its events that `meets`, it
        waits until every other one that has `meets` had such an event, before its next pass."""
        self._waiting.append(_Run(self._count, make, self.clock, self._live, meets))
        self._count += 1
        return self._count - 1

    def stop(self, number: int) -> None:
        """End a run before its next pass. Its last event is its footer; one that still waits for room has no events."""
        for run in [*self._live, *self._waiting]:
            if run.number == number:
                run.stopped = True

    def events(self) -> Generator[tuple[int, Event | Exception], None, None]:
        """Decode until no run is left. Yields each run's number with each of its events, or with the error that ended
        it. Closing the generator ends all runs."""
        try:
            while self._live or self._waiting:
                self._admit()
                late = any(not run.met for run in self._live)
                free = [run for run in self._live if not (run.met and late)]
                turn = [run for run in free if run.wants is None and run.turns < TURNS]
                for run in turn:
                    found = run.go_on()
                    if run.over:
                        self._live.remove(run)
                    with self.clock.stopped():
                        yield from ((run.number, one) for one in found)
                if not turn:
                    self._pass(free)
        finally:
            for run in self._live:
                run.end()
            self._live.clear()

    def _admit(self) -> None:
        while self._waiting and len(self._live) < self._most:
            run = self._waiting.popleft()
            if not run.stopped:
                self._live.append(run)

    def _pass(self, runs: Sequence[_Run]) -> None:
        """Run the cheapest of the passes that wait, with all others through the same layers."""
        waiting = [(run.wants, run) for run in runs if run.wants is not None]
        for run in runs:
            run.turns = 0
        if not waiting:
            return
        first = min((offered for offered, _ in waiting), key=self._price)
        group, rows = list[tuple[Offered, _Run]](), 0
        for offered, run in waiting:
            if offered.key == first.key and (not group or (first.together and rows + offered.mine.rows <= ROWS)):
                group.append((offered, run))
                rows += offered.mine.rows
        began = self.clock.now()
        answers = _answers([offered for offered, _ in group])
        ns = self.clock.now() - began
        took_part = {run.number: offered.mine.rows for offered, run in group}
        others = len(waiting) > 1
        for (offered, run), answer in zip(group, answers, strict=True):
            run.answered(answer, took_part, ns, offered.why if others and offered.together is None else "")

    def _price(self, offered: Offered) -> int:
        if offered.key not in self._nbytes:
            self._nbytes[offered.key] = offered.nbytes()
        return self._nbytes[offered.key]


def _answers(group: Sequence[Offered]) -> Sequence[Tensor | Exception]:
    """The results of passes of one key. Where the joint pass fails, each is run alone, so that only the run whose pass
    cannot be run sees an error; a pass writes the same keys and values again."""
    with torch.inference_mode():
        together = group[0].together
        if len(group) > 1 and together is not None:
            try:
                return together([offered.mine for offered in group])
            except Exception:  # a decoder's libraries may raise anything
                pass
        found = list[Tensor | Exception]()
        for offered in group:
            try:
                found.append(offered.alone(offered.mine))
            except Exception as error:
                found.append(error)
        return found


class _Run:
    """One run, on its own thread, which runs only within `go_on` and `end`."""

    def __init__(
        self,
        number: int,
        make: MakeRun,
        clock: _BatchClock,
        beside: Sequence[_Run],
        meets: Callable[[Event], bool] | None,
    ) -> None:
        """beside: the runs that are decoded now. meets: see `Batch.add`."""
        self.number, self._make, self._clock, self._beside, self._meets = number, make, clock, beside, meets
        self.wants: Offered | None = None  # the pass that it waits for
        self.turns = 0  # since the last pass of any run
        self.stopped = self.over = False
        self.met = meets is None
        self._found: list[Event | Exception] = []
        self._answer: Tensor | Exception | None = None
        self._turn = False  # whether others go on before its next pass
        self._shared: Shared | None = None
        self._mine, self._scheduler = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None

    def go_on(self) -> list[Event | Exception]:
        """Run until it wants a pass, has ended a round, or is over; returns its events."""
        self.turns += 1
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"run {self.number}", daemon=True)
            self._thread.start()
        else:
            self._mine.release()
        self._scheduler.acquire()
        found, self._found = self._found, []
        if self.over:
            self._thread.join()
        return found

    def end(self) -> None:
        """Stop it, and drop its events."""
        self.stopped = True
        while self._thread is not None and not self.over:
            self._answer = Stopped()
            self.go_on()

    def answered(self, answer: Tensor | Exception, rows: dict[int, int], ns: int, alone: str) -> None:
        """Its pass was run, with the rows of each run in it. alone: see `Shared`."""
        own = rows[self.number]
        self.wants, self._answer = None, answer
        if not own:
            return  # a head
        before = self._shared or Shared({}, 0, 0, "")
        both = {run: before.rows.get(run, 0) + rows.get(run, 0) for run in sorted({*before.rows, *rows})}
        self._shared = Shared(both, before.passes + 1, before.ns + ns, alone or before.alone)

    # on its own thread

    @property
    def live(self) -> int:
        """See `Joins.live`."""
        return len(self._beside)

    def run(self, offered: Offered) -> Tensor:
        """See `Joins.run`. Without the clock, such as while levels are opened, a pass is run at once."""
        if self._clock.still:
            return offered.alone(offered.mine)
        self.wants = offered
        self._hand_over()
        self.wants = None
        answer, self._answer = self._answer, None
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        return answer

    def taken(self) -> Shared | None:
        """See `Joins.taken`."""
        shared, self._shared = self._shared, None
        return shared

    def _hand_over(self) -> None:
        self._scheduler.release()
        self._mine.acquire()

    def _stops(self) -> bool:
        if self._turn and not self.stopped and not self._clock.still:
            self._turn = False
            self._hand_over()
        return self.stopped

    def _work(self) -> None:
        JOINS.set(self)
        torch_with(1)  # passes are run by the scheduler's thread
        try:
            events: Any = self._make(_RunClock(self._clock), self._stops)
            with closing(events):
                for event in events:
                    self._found.append(event)
                    meets = not self.met and self._meets is not None and self._meets(event)
                    self.met |= meets
                    self._turn |= meets or isinstance(event, Commit)
        except Stopped:
            pass
        except Exception as error:
            self._found.append(error)
        self.over = True
        self._scheduler.release()


class _BatchClock(EngineClock):
    @property
    def still(self) -> bool:
        """Whether it is stopped."""
        return self._stopped_at is not None


class _RunClock(EngineClock):
    """0 when its run joins. It stops for recording with the batch's, and goes on while other runs are worked on."""

    def __init__(self, batch: EngineClock) -> None:
        super().__init__(batch.now)
        self._batch = batch

    def stopped(self) -> AbstractContextManager[None]:
        return self._batch.stopped()
