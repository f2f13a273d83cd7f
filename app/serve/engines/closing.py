"""Ending at once: Ctrl+C while weights are fetched or converted, or a run is going, waits for nobody for long.

Python would join the threads that load and run; Gradio would wait for open connections. Here what is being fetched or
converted hears that the server closes and clears its half-made folder away, and then the process ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from app.words import page as says

GRACE_S = 1.5  # for what is half-made to be cleared away
Progress = Callable[[str, float, float], None]


class Closing:
    """Tells the pipelines that are being opened when the server closes."""

    def __init__(self) -> None:
        self._closes = threading.Event()
        self._opening = 0
        self._changed = threading.Condition()

    def over(self, pipeline: Any) -> Any:
        """The same pipeline class, with an `open` and a `fetch` that break off when the server closes."""
        closing = self

        class Closable(pipeline):  # type: ignore[misc]
            @classmethod
            def open(cls, preset: str, *, progress: Progress | None = None, **more: Any) -> Any:
                with closing._counted(progress) as report:
                    return pipeline.open(preset, progress=report, **more)

            @staticmethod
            def fetch(source: Any, progress: Progress) -> None:
                with closing._counted(progress) as report:
                    pipeline.fetch(source, report)

        return Closable

    def ends(self) -> None:
        """What is being opened breaks off; returns once it has cleared up, or after `GRACE_S`."""
        self._closes.set()
        with self._changed:
            self._changed.wait_for(lambda: self._opening == 0, timeout=GRACE_S)

    def serve(self, start: Callable[[], Any], end: Callable[[], None] | None = None) -> None:
        """Start what `start` gives and keep serving until Ctrl+C or SIGTERM, also before it has started; then end the
        process. What `start` raises, this raises.

        Args:
            end: what else is to be ended.
        """
        asked = threading.Event()

        def hear(number: int, frame: FrameType | None) -> None:
            asked.set()  # Python drops what is raised while an object is cleared away
            signal.default_int_handler(number, frame)

        signal.signal(signal.SIGTERM, hear)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell may have told us to ignore it
            signal.signal(signal.SIGINT, hear)
        try:
            demo = start()
            while demo.is_running and not asked.is_set():
                time.sleep(0.1)
        except KeyboardInterrupt:
            asked.set()
        if asked.is_set():
            print("closing", flush=True)
            self.ends()
        if end is not None:
            end()
        tunneling = sys.modules.get("gradio.tunneling")  # not imported for this: that takes seconds
        for tunnel in getattr(tunneling, "CURRENT_TUNNELS", ()):
            tunnel.kill()
        sys.stdout.flush()
        os._exit(0)

    @contextmanager
    def _counted(self, progress: Progress | None) -> Iterator[Progress]:
        def report(stage: str, done: float, total: float) -> None:
            if self._closes.is_set():
                raise RuntimeError(says.CLOSING)
            if progress is not None:
                progress(stage, done, total)

        self._count(1)
        try:
            yield report
        finally:
            self._count(-1)

    def _count(self, step: int) -> None:
        with self._changed:
            self._opening += step
            self._changed.notify_all()
