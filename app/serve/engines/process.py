"""The engine in a process of its own, which may end, crash or hang without the page.

Its run then ends with what had been written and a sentence that says what happened; the engine is started again, after
growing pauses. A request at which it ended twice is not given to it again; where several runs were at work, each of
them is worked on alone the next time, so that what ended it is known. Who waits in line does not notice but by the time
that it takes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from app.kit.payload import status
from app.serve.engine import EngineHealth, EngineWork, Job, Payload, W
from app.serve.engines.attending import STILL_S
from app.serve.engines.messages import (
    Begin,
    Fetch,
    FromEngine,
    Hello,
    Lost,
    Over,
    Ready,
    Sent,
    Stop,
    Told,
)
from app.serve.engines.spawned import SILENT_S, Spawned
from app.serve.line.known_runs import Run
from app.words import engine as says
from app.words import run as run_says

PAUSES_S = (0.0, 1.0, 4.0, 15.0)  # before it is started again: after its first end in `WINDOW_S`, its second, ...
WINDOW_S = 120.0  # also how long it rests after one more
BLAMED = 2  # times that it may end at one request
BLAMED_S = 600.0  # for so long an end counts: memory may have been short then
LOOK_S = 0.1


@dataclass(slots=True)
class Ended:
    """The engine ended. why: in words."""

    why: str


@dataclass(slots=True, eq=False)
class Ear:
    """Where a run hears what the engine tells of it."""

    loop: asyncio.AbstractEventLoop
    heard: asyncio.Queue[FromEngine | Ended] = field(default_factory=asyncio.Queue)

    def hear(self, message: FromEngine | Ended) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(self.heard.put_nowait, message)


class ProcessEngine:
    """
    Args:
        command: what starts the engine. lacks, here: see `Engine.lacks` and `Engine.here`; asked in the page's process.
        pauses_s, silent_s, still_s: see `PAUSES_S`, and `spawned`.
    """

    def __init__(
        self,
        command: Sequence[str],
        hello: Hello,
        lacks: Callable[[EngineWork], bool],
        *,
        here: bool = True,
        pauses_s: Sequence[float] = PAUSES_S,
        silent_s: float = SILENT_S,
        still_s: float = STILL_S,
    ) -> None:
        self._spawn = partial(Spawned, command, hello, self._hear, self._end, silent_s=silent_s, still_s=still_s)
        self.lacks, self._here, self._pauses, self._batch = lacks, here, pauses_s, hello.batch
        self._lock = threading.Lock()
        self._engine: Spawned | None = None
        self._ready, self._closed, self._down = False, False, False
        self._ends: deque[float] = deque(maxlen=len(pauses_s) + 1)
        self._restarts, self._again = -1, 0.0
        self._failed, self._why = 0, ""  # starts that came to nothing, and why the last one did
        self._ears: dict[str, Ear] = {}
        self._at_work: dict[str, bytes] = {}  # by run: what is asked of it, without its name
        self._places = 1
        self._blamed: list[tuple[float, bytes, bool]] = []  # when it ended, at which request, whether at that alone

    @property
    def health(self) -> EngineHealth:
        engine = self._engine
        if engine is None:
            if self._restarts < 0:
                return EngineHealth("starting")
            return EngineHealth("down" if self._down else "restarting", restarts=self._restarts)
        state = "ok" if self._ready else "restarting" if self._restarts else "starting"
        return EngineHealth(state, engine.pid, self._restarts, engine.memory, engine.model)  # type: ignore[arg-type]

    @property
    def here(self) -> bool:
        return self._here

    @property
    def places(self) -> int:
        return self._places

    def group(self, job: Job[W], request: W) -> Hashable | None:
        if self._batch == 1:
            return ""
        suspected = self._blamed and self._ends_at(_nameless(request))
        return (request.preset, request.device) if job.joins and not suspected else None

    def start(self) -> None:
        """Start the process, and return at once: it is spoken to when it is ready."""
        with self._lock:
            if not self._closed:
                self._ready, self._down = False, False
                self._restarts += 1
                self._engine = self._spawn()

    def close(self, grace: float) -> None:
        """End the process; it clears up what is half-made, within so many seconds."""
        with self._lock:
            self._closed = True
            engine = self._engine
        if engine is not None:
            engine.end(grace)

    async def fetch(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        for _ in range(len(self._pauses)):
            ended = None
            async for item in self._asked(Fetch(run.name, job.name, _raw(request)), run):
                if isinstance(item, Ended):
                    ended = item
                elif isinstance(item, Over):
                    if item.fault:
                        run.state = status("error", item.fault, detail=run_says.STILL_HERE)
                else:
                    yield item
            if ended is None or run.over():
                return
        run.state = status("error", says.DOWN)

    async def work(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        asked = _nameless(request)
        ends = self._ends_at(asked)
        run.stage = "running"
        try:
            if len(ends) >= BLAMED and any(ends):
                run.state = status("error", says.TWICE, detail=run_says.STILL_HERE)
                yield run.said(final=True)
                return
            async for item in self._asked(Begin(run.name, job.name, _raw(request), alone=bool(ends)), run, asked):
                if isinstance(item, Ended):
                    kept = says.LEFT_TEXT if run.live else run_says.STILL_HERE
                    run.state = status("error", item.why, detail=kept)
                    yield run.wrote(final=True)
                elif isinstance(item, Over):  # so another request ended the engine when several were at work
                    self._blamed = [one for one in self._blamed if one[2] or one[1] != asked]
                else:
                    yield item
        finally:
            run.stopped.set()
            await asyncio.to_thread(run.done)

    async def _asked(
        self, message: Begin | Fetch, run: Run, asked: bytes | None = None
    ) -> AsyncGenerator[Payload | Over | Ended, None]:
        """What the engine tells of a run, once it is ready; at last `Over`, or `Ended` where nothing more comes."""
        failed = self._failed
        while not self._ready:
            if self._failed > failed:
                yield Ended(says.unstarted(self._why))
                return
            if self._down or run.over():
                said = status("idle", run_says.STOPPED_EARLY) if run.over() else status("error", says.DOWN)
                run.state = said
                yield run.said(final=True)
                return
            state = status("loading", self._waits(), detail=run_says.MEANWHILE, stage="engine")
            if state != run.state:
                run.state = state
                yield run.said()
            await asyncio.sleep(LOOK_S)
        ear = Ear(asyncio.get_running_loop())
        with self._lock:
            engine = self._engine
            self._ears[run.name] = ear
            if asked is not None:
                self._at_work[run.name] = asked
        assert engine is not None
        engine.tell(message)
        stopped = False
        try:
            while True:
                if not stopped and run.over():
                    stopped = True
                    engine.tell(Stop(run.name))
                try:
                    told = await asyncio.wait_for(ear.heard.get(), LOOK_S)
                except asyncio.TimeoutError:
                    continue
                if isinstance(told, Told | Sent):
                    if (item := applied(run, told)) is not None:
                        yield item
                elif isinstance(told, Over | Ended):
                    yield told
                    return
                elif isinstance(told, Lost):
                    yield Ended(says.ended(told.why))
                    return
        finally:
            if not stopped:
                engine.tell(Stop(run.name))
            with self._lock:
                self._ears.pop(run.name, None)
                self._at_work.pop(run.name, None)

    def _ends_at(self, asked: bytes) -> list[bool]:
        """Of each time that it ended at this request lately, whether at that alone."""
        since = time.monotonic() - BLAMED_S
        return [alone for at, one, alone in self._blamed if at > since and one == asked]

    def _waits(self) -> str:
        if self._engine is not None or self._restarts < 0:
            return says.STARTING
        return says.restarting(max(0.0, self._again - time.monotonic()))

    def _hear(self, message: FromEngine) -> None:
        """In the thread that listens to the engine."""
        if isinstance(message, Ready):
            self._ready, self._places = True, message.places
        elif isinstance(message, Told | Sent | Over | Lost) and (ear := self._ears.get(message.run)):
            ear.hear(message)

    def _end(self, why: str) -> None:
        """The engine's process has ended; in the thread that listened to it."""
        with self._lock:
            if not self._ready:
                self._failed, self._why = self._failed + 1, why
            self._engine, self._ready = None, False
            if self._closed:
                return
            now = time.monotonic()
            self._blamed = [one for one in self._blamed if now - one[0] < BLAMED_S]
            self._blamed += [(now, asked, len(self._at_work) == 1) for asked in self._at_work.values()]
            self._ends.append(now)
            recent = sum(now - at < WINDOW_S for at in self._ends)
            self._down = recent > len(self._pauses)
            pause = WINDOW_S if self._down else self._pauses[recent - 1]
            self._again = now + pause
            ears = list(self._ears.values())
        for ear in ears:
            ear.hear(Ended(says.DOWN if self._down else says.ended(why)))
        again = threading.Timer(pause, self.start)
        again.daemon = True
        again.start()


def _raw(request: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(request))


def _nameless(request: EngineWork) -> bytes:
    """What is asked, whatever the run is called."""
    return bytes(_raw(request)).replace(request.run.encode(), b"")


# ---- What an engine in another process tells of a run, said of the page's own


def applied(run: Run, said: Told | Sent) -> Payload | None:
    """What a message says, said of the page's own run; its payload."""
    run.loading, known = said.loading, run.state
    run.state = said.state
    if isinstance(said, Told):
        return run.said() if said.state != known else None
    run.live += said.records
    return run.wrote(final=said.final) if said.records or said.final else run.said()
