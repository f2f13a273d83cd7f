"""Opens presets and builds levels in threads of its own, tells how far it is, and keeps few of them open."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from app.words import run as says
from hsd_core.models.machine import device_name

OPEN = 2  # presets whose weights stay in memory: the one that runs and the one before it

NICE = 5  # of the threads that load and run, beyond the server's


class Request(Protocol):
    """What a visitor asks the engine for: the preset and device that it needs open, and how it starts there."""

    @property
    def preset(self) -> str: ...
    @property
    def device(self) -> str | None: ...
    def start(self, pipeline: Any, *, stop: Callable[[], bool]) -> Generator[Any, None, None]: ...


@dataclass(slots=True, eq=False)
class Opening:
    """A pipeline that is being opened, or is open. `said`: what it is at, how much is done, of how much."""

    pipeline: Future[Any] = field(default_factory=Future)
    said: tuple[str, float, float] = ("load", 0.0, 0.0)
    building: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, stage: str, done: float, total: float) -> None:
        self.said = (stage, done, total)

    @property
    def failed(self) -> bool:
        return self.pipeline.done() and self.pipeline.exception() is not None


class Loader:
    """`pipeline` is the class from hsd_core. Runs come one at a time, so what was asked for last is what runs."""

    def __init__(self, pipeline: Any, *, models: Path | None = None) -> None:
        self._pipeline = pipeline
        self._options = {"models": models} if models else {}
        # A visitor who left during a download leaves it going on; the next one's preset loads beside it.
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="load", initializer=behind)
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str], Opening] = OrderedDict()

    def opening(self, preset: str, device: str | None) -> Opening:
        """The pipeline of a preset on a device; without one, on the default device.

        Raises:
            ValueError: there is no such device.
        """
        key = (preset, device_name(device))
        with self._lock:
            found = self._open.get(key)
            if found is None or found.failed:
                found = self._open[key] = Opening()
                self._pool.submit(self._load, key, found)
            self._open.move_to_end(key)
            done = [name for name, one in self._open.items() if one.pipeline.done() and name != key]
            for name in done[: max(0, len(self._open) - OPEN)]:  # not those still loading: they would load twice
                del self._open[name]
            return found

    def starting(
        self, request: Request, opening: Opening, stop: Callable[[], bool]
    ) -> Future[Generator[Any, None, None]]:
        """What the request starts, once its levels are built. They are closed if the run is over by then."""
        return self._pool.submit(self._start, request, opening, stop)

    def size(self, preset: str) -> str:
        """What is still to be fetched for a preset, "" if nothing."""
        entry: dict[str, Any] = next((p for p in self._pipeline.catalogue() if p["name"] == preset), {})
        return says.megabytes(entry["download_mb"]) if entry.get("download_mb") else ""

    def _load(self, key: tuple[str, str], opening: Opening) -> None:
        try:
            gc.collect()  # what was let go is to be gone before the next weights come
            preset, device = key
            opened = self._pipeline.open(preset, device=device, progress=opening.tell, **self._options)
            opening.pipeline.set_result(opened)
        except BaseException as error:
            opening.pipeline.set_exception(error)

    def _start(self, request: Request, opening: Opening, stop: Callable[[], bool]) -> Generator[Any, None, None]:
        pipeline = opening.pipeline.result()
        with opening.building:
            events = request.start(pipeline, stop=stop)
        if stop():
            events.close()  # a generator that was never begun frees nothing by itself
        return events


def behind() -> None:
    """On Linux, this thread and those that it will start (torch's) take a processor after the server's other threads.

    Elsewhere all threads of a process have one niceness, and nothing changes.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a thread that cannot be held back is no reason to go without it
            others = os.getpriority(os.PRIO_PROCESS, os.getpid())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), others + NICE)
