"""Work that several may wait for: done once, in a thread of its own, and given up when nobody waits for it any more."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from app.words import run as says

LOOK_S = 0.25
NICE = 5  # of the threads that load and run, beyond the server's

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Tell = Callable[[str, float, float], None]  # a stage, how much of it is done, of how much
_working = threading.local()  # `left`: of a thread that works, whether nobody waits for that any more


class LoadingLeft(RuntimeError):
    """Nobody waits any more for what is being loaded."""


@dataclass(slots=True, eq=False)
class Shared(Generic[T]):
    """Work that goes on, or is done. `said`: what it is at, how much is done, of how much. `waiting`: how many runs
    wait for it; `left`: there was a moment with none, and it ends."""

    done: Future[T] = field(default_factory=Future)
    said: tuple[str, float, float] = ("load", 0.0, 0.0)
    waiting: int = 0
    left: bool = False
    alone: threading.Lock = field(default_factory=threading.Lock)  # held by who goes on working with what was done

    def tell(self, stage: str, done: float, total: float) -> None:
        """
        Raises:
            LoadingLeft: in a thread that works, when nobody waits for that any more.
        """
        self.said = (stage, done, total)
        if getattr(_working, "left", _nobody)():
            raise LoadingLeft(says.LEFT)

    @property
    def lost(self) -> bool:
        """Whether nothing comes of it."""
        return self.left or (self.done.done() and self.done.exception() is not None)


class SharedWork(Generic[K, T]):
    """Work by a name. Who comes while it goes on waits for the same; who comes after it was given up begins anew.

    Args:
        keep: of what was done and nobody asked for since, how many are kept.
    """

    def __init__(self, keep: int) -> None:
        self._keep, self._lock = keep, threading.Lock()
        self._known: OrderedDict[K, Shared[T]] = OrderedDict()

    def done(self) -> list[K]:
        """The names of what is done and kept, the one that was asked for last at the end."""
        with self._lock:
            return [key for key, one in self._known.items() if one.done.done() and not one.lost]

    @contextmanager
    def awaited(self, key: K, make: Callable[[Tell], T]) -> Iterator[Shared[T]]:
        """Some work, awaited while the block runs: what goes on, was done, or is begun now as `make`."""
        found = self._awaited(key, make)
        try:
            yield found
        finally:
            with self._lock:
                found.waiting -= 1

    def _awaited(self, key: K, make: Callable[[Tell], T]) -> Shared[T]:
        with self._lock:
            found = self._known.get(key)
            if found is None or found.lost:
                found = self._known[key] = Shared()
                apart(partial(self._work, key, found, make))
            found.waiting += 1
            self._known.move_to_end(key)
            done = [name for name, one in self._known.items() if one.done.done() and name != key]
            for name in done[: max(0, len(done) + 1 - self._keep)]:  # not those that go on: they would begin twice
                del self._known[name]
            return found

    def _work(self, key: K, work: Shared[T], make: Callable[[Tell], T]) -> None:
        _working.left = partial(self._left, key, work)
        try:
            work.done.set_result(make(work.tell))
        except BaseException as error:
            work.done.set_exception(error)

    def _left(self, key: K, work: Shared[T]) -> bool:
        with self._lock:
            work.left = work.waiting == 0
            if work.left and self._known.get(key) is work:
                del self._known[key]
            return work.left


def apart(work: Callable[[], T], *, left: Callable[[], bool] | None = None) -> Future[T]:
    """What some work gives, done in a thread of its own that comes after the server's.

    Args:
        left: whether nobody waits for it any more; what it tells asks that.
    """
    found: Future[T] = Future()

    def act() -> None:
        behind()
        if left is not None:
            _working.left = left
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=act, name="load", daemon=True).start()
    return found


def _nobody() -> bool:
    """In a thread that does not load: the engine's, which has a stop of its own."""
    return False


def behind(*_: Any) -> None:
    """On Linux, this thread and those that it will start (torch's) take a processor after the server's other threads.

    Elsewhere all threads of a process have one niceness, and nothing changes.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a thread that cannot be held back is no reason to go without it
            others = os.getpriority(os.PRIO_PROCESS, os.getpid())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), others + NICE)
