"""Opens presets, builds levels and fetches weights in threads of their own, tells how far that is, and keeps few of the
presets open.

What is loaded has a thread as long as somebody waits for it, so nobody's slow download keeps another's model from
loading. When the last one who waited has left, the loading ends the next time that it tells how far it is; who comes
before then finds it going on, who comes later begins again.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from app.serve.settings import prompt_tokens
from app.words import run as says
from hsd_core.models.machine import device_name
from hsd_core.pipeline import Reading

OPEN = 2  # presets whose weights stay in memory: the one that runs and the one before it


class Request(Protocol):
    """What a visitor asks the engine for: the preset, device and stacks that it needs, and how it starts there."""

    @property
    def preset(self) -> str: ...
    @property
    def device(self) -> str | None: ...
    @property
    def stacks(self) -> Sequence[str]: ...
    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]: ...


Starts = Callable[..., Generator[Any, None, None]]  # as `Request.start`, of the request that comes first


class Loader:
    """`pipeline` is the class from hsd_core. Runs come one at a time, or those of one preset together, so what was
    asked for last is what runs.

    Args:
        opening: what `Pipeline.open` takes for a preset's name: a preset, and more of its options.
        prompt_tokens: of the longest prompt; device: where runs go that name none; None for the default.
    """

    def __init__(
        self,
        pipeline: Any,
        *,
        opening: Callable[[str], tuple[Any, dict[str, Any]]] = lambda name: (name, {}),
        prompt_tokens: int | None = None,
        device: str | None = None,
    ) -> None:
        self._pipeline, self._opening, self._prompt_tokens, self._device = pipeline, opening, prompt_tokens, device
        self.starts: Starts = lambda request, *given, **more: request.start(*given, **more)
        self._open, self._fetched = SharedWork[tuple[str, str], Any](OPEN), SharedWork[str, Any](0)

    def started_by(self, starts: Starts) -> Loader:
        """The same loader, for a run whose events `starts` makes."""
        own = copy(self)
        own.starts = starts
        return own

    @property
    def model(self) -> str:
        """The preset that was asked for last and is open; "" for none."""
        return next((preset for preset, _ in reversed(self._open.done())), "")

    def awaited(self, preset: str, device: str | None) -> AbstractContextManager[Shared[Any]]:
        """The pipeline of a preset on a device, awaited while the block runs; without a device, on the default one.

        Raises:
            ValueError: there is no such device.
        """
        name = device_name(device or self._device)
        return self._open.awaited((preset, name), partial(self._load, preset, name))

    def absent(self, request: Request) -> list[Any]:
        """The weights that a request needs and that are not on the disk yet (`Pipeline.missing_weights`)."""
        preset, options = self._opening(request.preset)
        found: list[Any] = self._pipeline.missing_weights(preset, request.stacks, models=options.get("models"))
        return found

    def lacks(self, request: Request) -> bool:
        """Whether weights that it needs are not on the disk yet. What is wrong with a request, its run will say."""
        try:
            return bool(self.absent(request))
        except ValueError:
            return False

    def fetching(self, source: Any) -> AbstractContextManager[Shared[Any]]:
        """Weights that are being fetched, awaited while the block runs."""
        return self._fetched.awaited(source.id, partial(self._pipeline.fetch, source))

    def starting(
        self, request: Request, opening: Shared[Any], stop: Callable[[], bool], reading: Reading | None = None
    ) -> Future[Generator[Any, None, None]]:
        """What the request starts, once its levels are built. They are closed if the run is over by then."""
        return apart(partial(self._start, request, opening, stop, reading), left=stop)

    def _load(self, name: str, device: str, tell: Tell) -> Any:
        gc.collect()  # what was let go is to be gone before the next weights come
        preset, options = self._opening(name)
        most = prompt_tokens(device, self._prompt_tokens)
        return self._pipeline.open(preset, device=device, progress=tell, prompt_tokens=most, **options)

    def _start(
        self, request: Request, opening: Shared[Any], stop: Callable[[], bool], reading: Reading | None
    ) -> Generator[Any, None, None]:
        pipeline = opening.done.result()
        while not opening.alone.acquire(timeout=LOOK_S):
            if stop():
                raise LoadingLeft(says.LEFT)
        try:
            events = self.starts(request, pipeline, stop=stop, reading=reading)
        finally:
            opening.alone.release()
        if stop():
            events.close()  # a generator that was never begun frees nothing by itself
        return events


# ---- Work that several may wait for: done once, in a thread of its own, and given up when nobody waits for it any more


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
