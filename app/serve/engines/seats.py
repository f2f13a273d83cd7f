"""The runs that the engine's process works on: one after another, or several whose passes are joined.

The main thread decodes and writes them all (`Seats.work`). The weights of a run that joins are opened in a thread of
its own; while its levels are built, the other runs pause, and so does their clock. A job that is worked on alone waits
until those before it are over, and those that come after it wait behind it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from app.serve.engine import Job, Payload
from app.serve.line.known_runs import Run
from app.serve.loader import Loader, Request
from hsd_core.core.clock import EngineClock
from hsd_core.pipeline import Reading

if TYPE_CHECKING:
    from hsd_core.batch.batch import Batch

_OVER = object()  # follows the last event of a run


@dataclass(frozen=True, slots=True)
class Work:
    """A job that was begun. request: what is asked of it. joins: whether it is worked on beside others that join."""

    job: Job[Any]
    request: Callable[[], Any]
    run: Run
    joins: bool


class Seats:
    """
    Args:
        most: runs at a time. loader: opens presets.
        tell: sends a payload of a run; called from several threads. over: called once for a run, when it is over.
    """

    def __init__(
        self, most: int, loader: Loader, tell: Callable[[Run, Payload], None], over: Callable[[Run], None]
    ) -> None:
        self._most, self._loader, self._tell, self._over = most, loader, tell, over
        self._inbox = SimpleQueue[Work | _Seat | _Pause]()
        self._waiting = deque[Work]()
        self._taken = 0  # seats
        self._seats = dict[int, _Seat]()  # by the run's number in the batch
        self._batch: Batch | None = None

    def begin(self, work: Work) -> None:
        """Work on it when its turn has come."""
        self._inbox.put(work)

    def work(self) -> NoReturn:
        """Work, in the thread that calls this."""
        while True:
            self._take(self._inbox.get())
            for number, event in self._batch.events() if self._batch else ():
                if number in self._seats:
                    self._write(number, event)
                while not self._inbox.empty():
                    self._take(self._inbox.get())

    def _take(self, item: Work | _Seat | _Pause) -> None:
        if isinstance(item, Work):
            self._waiting.append(item)
        elif isinstance(item, _Pause):
            item.begins.set()
            item.ends.wait()
        elif item.opened:
            if self._batch is None:
                from hsd_core.batch.batch import Batch  # imports torch, as opening a preset did

                self._batch = Batch(self._most)
            self._seats[self._batch.add(item.decoded)] = item
        else:
            self._free(item)
        self._begin_next()

    def _begin_next(self) -> None:
        while self._waiting and (not self._taken or (self._waiting[0].joins and self._taken < self._most)):
            work = self._waiting.popleft()
            if work.joins and self._most > 1:
                self._taken += 1
                seat = _Seat(work, self._loader, self._paused)
                threading.Thread(target=self._open, args=(seat,), name="open", daemon=True).start()
            else:
                try:
                    for item in work.job.write(self._loader, work.request(), work.run):
                        self._tell(work.run, item)
                finally:
                    self._over(work.run)

    def _open(self, seat: _Seat) -> None:
        """Until it can be decoded, or is over; in a thread of its own."""
        try:
            seat.opened = self._waits(seat)
        finally:
            self._inbox.put(seat)

    def _write(self, number: int, event: Any) -> None:
        seat = self._seats[number]
        seat.heard.append(event)
        if not self._waits(seat):
            del self._seats[number]
            assert self._batch is not None
            self._batch.stop(number)  # it may have failed while it was written
            self._free(seat)
            self._begin_next()

    def _waits(self, seat: _Seat) -> bool:
        """Send what it has written; whether it waits for its next event."""
        for item in seat.payloads:
            if not item:
                return True
            self._tell(seat.run, item)
        return False

    def _free(self, seat: _Seat) -> None:
        self._taken -= 1
        self._over(seat.run)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """While no run is decoded."""
        pause = _Pause()
        self._inbox.put(pause)
        pause.begins.wait()
        try:
            yield
        finally:
            pause.ends.set()


@dataclass(frozen=True, slots=True)
class _Pause:
    begins: threading.Event = field(default_factory=threading.Event)
    ends: threading.Event = field(default_factory=threading.Event)


class _Seat:
    """A run that joins. heard: its events that are not written yet. opened: whether it can be decoded."""

    def __init__(self, work: Work, loader: Loader, paused: Callable[[], AbstractContextManager[None]]) -> None:
        self.run, self._paused = work.run, paused
        self.heard = deque[Any]()
        self.opened = False
        self.payloads = work.job.write(loader.started_by(self._start), work.request(), work.run)
        self._make: Callable[..., Generator[Any, None, None]]

    def _start(
        self, request: Request, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]:
        with self._paused():
            for stack in request.stacks:
                pipeline.entries(stack)
        self._make = partial(request.start, pipeline, reading=reading)
        self._stop = stop
        return self._events()

    def _events(self) -> Generator[Any, None, None]:
        while True:
            event = self.heard.popleft() if self.heard else None
            if event is _OVER:
                return
            if isinstance(event, Exception):
                raise event
            yield event

    def decoded(self, clock: EngineClock, stops: Callable[[], bool]) -> Iterator[Any]:
        """Its events, in the batch's thread for it. Stopped by its visitor, or the batch."""
        from hsd_core.core.driver import Stopped

        with suppress(Stopped):
            yield from self._make(clock=clock, stop=lambda: stops() or self._stop())
        yield _OVER
