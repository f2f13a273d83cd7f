"""The engine's side of the protocol, in a process of its own: does what the page asks, and tells it.

One thread listens, one fetches for each run that asks, one says that the process lives; the main thread works
(`seats`). When the page ends, or closes the pipe, the process ends, whatever it is doing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from app.kit.elsewhere import Frames, send
from app.serve.engine import Job, Payload, fetched
from app.serve.engines.closing import Closing
from app.serve.engines.messages import (
    BEAT_S,
    VERSION,
    Beat,
    Begin,
    Fetch,
    Hello,
    Message,
    Over,
    Ready,
    Sent,
    Stop,
    Told,
    from_page,
    offer_of,
    pack,
)
from app.serve.engines.seats import Seats, Work
from app.serve.line.known_runs import Run
from app.serve.loader import NICE
from app.serve.offer import loader_for
from app.serve.watch.resident import resident
from app.words import engine as says
from hsd_core.typed import decode_message

SAY_S = 0.25  # how often what a run says of itself is looked at
FIRST_TO_GO = 500  # of 1000: how much sooner than others the system ends this process when memory ends


class Attending:
    """
    Args:
        pipeline: the class that opens presets. jobs: what may be asked for, by name.
        sink: the descriptor that is told to.
    """

    def __init__(self, pipeline: Any, jobs: Mapping[str, Job[Any]], sink: int) -> None:
        self._pipeline, self._jobs = pipeline, jobs
        self._closing = Closing()
        self._runs: dict[tuple[str, str], AttendedRun] = {}
        self._lock = threading.Lock()
        self._source = Frames(FileIO(0, closefd=False))
        self._sink = FileIO(sink, "w")

    def attend(self) -> None:
        """Work until the page ends."""
        hello = self._hello()
        self._tell(Ready(VERSION, os.getpid(), hello.batch))
        if hello.version != VERSION:
            return
        self._loader = loader_for(self._closing.over(self._pipeline), offer_of(hello))
        self._seats = Seats(hello.batch, self._loader, lambda run, item: self._tell(sent(run, item)), self._over)
        for act in (self._listen, self._beat):
            threading.Thread(target=act, daemon=True).start()
        self._seats.work()

    def _hello(self) -> Hello:
        body = self._source.next()
        said = from_page(body) if body is not None else None
        if not isinstance(said, Hello):
            sys.exit(says.ALONE)
        return said

    def _listen(self) -> None:
        while (body := self._source.next()) is not None:
            said = from_page(body)
            if isinstance(said, Stop):
                for of in (Fetch, Begin):
                    if run := self._runs.get((of.__name__, said.run)):
                        run.stop()
            elif isinstance(said, Fetch | Begin):
                run = self._runs[type(said).__name__, said.run] = AttendedRun(said.run)
                act: Any = partial(self._say, run) if isinstance(said, Begin) else partial(self._fetch, said)
                threading.Thread(target=act, daemon=True).start()
                if isinstance(said, Begin):
                    job = self._jobs[said.job]
                    self._seats.begin(Work(job, partial(self._request, said), run, job.joins and not said.alone))
        self._closing.ends()
        os._exit(0)

    def _fetch(self, asked: Fetch) -> None:
        run = self._runs["Fetch", asked.run]
        request = self._request(asked)
        for item in fetched(self._loader, request, run):
            self._tell(Told(run.name, item["status"]))
        fault = run.state["text"] if run.state.get("mode") == "error" else ""
        del self._runs["Fetch", asked.run]
        self._tell(Over(run.name, "fetch", fault))

    def _over(self, run: Run) -> None:
        del self._runs["Begin", run.name]
        self._tell(Over(run.name, "begin"))

    def _say(self, run: AttendedRun) -> None:
        """Tell what the run says of itself while the engine is within a step."""
        shown = run.state
        while ("Begin", run.name) in self._runs:
            if run.state is not shown and run.state:
                shown = run.state
                self._tell(Told(run.name, shown, run.loading))
            time.sleep(SAY_S)

    def _beat(self) -> None:
        while True:
            at_work = [run for (of, _), run in self._runs.copy().items() if of == "Begin"]
            still = min((run.still for run in at_work if run.still is not None), default=None)  # of a batch: all stand
            longest = max((run.longest for run in at_work), default=0.0)
            self._tell(Beat(still, longest, resident(), self._loader.model))
            time.sleep(BEAT_S)

    def _request(self, asked: Fetch | Begin) -> Any:
        return decode_message(asked.request, self._jobs[asked.job].request)

    def _tell(self, message: Message) -> None:
        body = pack(message)
        with self._lock:
            try:
                send(self._sink, body)
            except OSError:  # the page has ended
                os._exit(0)


def attend(pipeline: Any, jobs: Mapping[str, Job[Any]]) -> None:
    """Be the engine of the page that started this process: comes after it on the processor, and goes first when memory
    ends."""
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO))
    Attending(pipeline, jobs, private_sink()).attend()


def private_sink() -> int:
    """The descriptor that messages go to; what a library prints must not get into them, and goes to stderr."""
    sink = os.dup(1)
    os.dup2(2, 1)
    return sink


# ---- A run as an engine has it that works in another process than the page


STILL_S = 60.0  # without a step of the run at work, or `STILL_STEPS` times its longest
STILL_STEPS = 20.0


class AttendedRun(Run):
    """It ends when the page says so, and tells when it last made a step."""

    stepped: float | None = None  # when, on this process's clock; None before its first step
    longest: float = 0.0  # s

    def over(self) -> bool:
        now = time.monotonic()
        if self.stage == "running":
            if self.stepped is not None:
                self.longest = max(self.longest, now - self.stepped)
            self.stepped = now
        return self.stopped.is_set()

    @property
    def still(self) -> float | None:
        """Seconds since its last step; None before its first."""
        return None if self.stepped is None else time.monotonic() - self.stepped


def sent(run: Run, item: Payload) -> Sent:
    """A payload of a run, as it crosses to the page."""
    return Sent(run.name, item["ev"], item["final"], item["status"], run.loading)


def hangs(still: float | None, longest: float, still_s: float = STILL_S) -> bool:
    """Whether a run has made no step for so long that its engine is held to hang."""
    return still is not None and still > max(still_s, STILL_STEPS * longest)
