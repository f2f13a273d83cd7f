"""Opens presets and builds levels in threads of their own, tells how far it is, and keeps few of them open.

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
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from app.serve.limits import prompt_tokens
from app.words import run as says
from hsd_core.models.machine import device_name
from hsd_core.pipeline import Reading

OPEN = 2  # presets whose weights stay in memory: the one that runs and the one before it
LOOK_S = 0.25

NICE = 5  # of the threads that load and run, beyond the server's

T = TypeVar("T")
_loading = threading.local()  # `left`: of a thread that loads, whether nobody waits for that any more


class LoadingLeft(RuntimeError):
    """Nobody waits any more for what is being loaded."""


class Request(Protocol):
    """What a visitor asks the engine for: the preset and device that it needs open, and how it starts there."""

    @property
    def preset(self) -> str: ...
    @property
    def device(self) -> str | None: ...
    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]: ...


@dataclass(slots=True, eq=False)
class Opening:
    """A pipeline that is being opened, or is open. `said`: what it is at, how much is done, of how much. `waiting`: how
    many runs wait for it; `left`: there was a moment with none, and the loading ends."""

    pipeline: Future[Any] = field(default_factory=Future)
    said: tuple[str, float, float] = ("load", 0.0, 0.0)
    building: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0
    left: bool = False

    def tell(self, stage: str, done: float, total: float) -> None:
        """
        Raises:
            Left: in a thread that loads, when nobody waits for that any more.
        """
        self.said = (stage, done, total)
        if getattr(_loading, "left", _nobody)():
            raise LoadingLeft(says.LEFT)

    @property
    def lost(self) -> bool:
        """Whether nothing comes of it."""
        return self.left or (self.pipeline.done() and self.pipeline.exception() is not None)


class Loader:
    """`pipeline` is the class from hsd_core. Runs come one at a time, so what was asked for last is what runs.

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
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str], Opening] = OrderedDict()

    @contextmanager
    def awaited(self, preset: str, device: str | None) -> Iterator[Opening]:
        """The pipeline of a preset on a device, awaited while the block runs; without a device, on the default one.

        Raises:
            ValueError: there is no such device.
        """
        opening = self._awaited((preset, device_name(device or self._device)))
        try:
            yield opening
        finally:
            with self._lock:
                opening.waiting -= 1

    def _awaited(self, key: tuple[str, str]) -> Opening:
        with self._lock:
            found = self._open.get(key)
            if found is None or found.lost:
                found = self._open[key] = Opening()
                apart(partial(self._load, key, found))
            found.waiting += 1
            self._open.move_to_end(key)
            done = [name for name, one in self._open.items() if one.pipeline.done() and name != key]
            for name in done[: max(0, len(done) + 1 - OPEN)]:  # not those still loading: they would load twice
                del self._open[name]
            return found

    def starting(
        self, request: Request, opening: Opening, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Future[Generator[Any, None, None]]:
        """What the request starts, once its levels are built. They are closed if the run is over by then."""
        return apart(partial(self._start, request, opening, stop, reading))

    def _load(self, key: tuple[str, str], opening: Opening) -> None:
        _loading.left = partial(self._left, key, opening)
        try:
            gc.collect()  # what was let go is to be gone before the next weights come
            name, device = key
            preset, options = self._opening(name)
            most = prompt_tokens(device, self._prompt_tokens)
            opened = self._pipeline.open(preset, device=device, progress=opening.tell, prompt_tokens=most, **options)
            opening.pipeline.set_result(opened)
        except BaseException as error:
            opening.pipeline.set_exception(error)

    def _left(self, key: tuple[str, str], opening: Opening) -> bool:
        with self._lock:
            opening.left = opening.waiting == 0
            if opening.left and self._open.get(key) is opening:
                del self._open[key]
            return opening.left

    def _start(
        self, request: Request, opening: Opening, stop: Callable[[], bool], reading: Reading | None
    ) -> Generator[Any, None, None]:
        _loading.left = stop
        pipeline = opening.pipeline.result()
        while not opening.building.acquire(timeout=LOOK_S):
            if stop():
                raise LoadingLeft(says.LEFT)
        try:
            events = request.start(pipeline, stop=stop, reading=reading)
        finally:
            opening.building.release()
        if stop():
            events.close()  # a generator that was never begun frees nothing by itself
        return events


def apart(work: Callable[[], T]) -> Future[T]:
    """What some work gives, done in a thread of its own that comes after the server's."""
    found: Future[T] = Future()

    def act() -> None:
        behind()
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=act, name="load", daemon=True).start()
    return found


def _nobody() -> bool:
    """In a thread that does not load: the engine's, which has a stop of its own."""
    return False


def behind() -> None:
    """On Linux, this thread and those that it will start (torch's) take a processor after the server's other threads.

    Elsewhere all threads of a process have one niceness, and nothing changes.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a thread that cannot be held back is no reason to go without it
            others = os.getpriority(os.PRIO_PROCESS, os.getpid())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), others + NICE)
