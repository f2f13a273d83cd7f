"""The engine in the page's own process: one thread works, others fetch."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor

from app.serve.engine import EngineHealth, EngineWork, Job, Payload, W, fetched
from app.serve.line.known_runs import Run
from app.serve.loader import Loader, behind
from app.serve.watch.resident import resident

SAY_S = 0.5
FETCHES = 64  # runs whose weights are fetched at the same time, each with a thread that tells how far that is


class InlineEngine:
    """Works in a thread of this process. What is told of a run while the engine is within a step goes to the page too.

    Args:
        loader: opens presets.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        # One thread: torch keeps a team of workers, and malloc a pool of memory, for each that ever ran a model.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine", initializer=behind)
        self._fetching = ThreadPoolExecutor(FETCHES, thread_name_prefix="fetch")

    @property
    def health(self) -> EngineHealth:
        return EngineHealth(pid=os.getpid(), memory=resident(), model=self._loader.model)

    @property
    def here(self) -> bool:
        return True

    @property
    def places(self) -> int:
        return 1

    def group(self, job: Job[W], request: W) -> Hashable | None:
        return ""

    def start(self) -> None:
        """Nothing: its threads start with the first run."""

    def lacks(self, request: EngineWork) -> bool:
        return self._loader.lacks(request)

    async def fetch(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        async for item in _stepped(self._fetching, run, fetched(self._loader, request, run)):
            yield item

    async def work(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        written = job.write(self._loader, request, run)
        try:
            async for item in _stepped(self._thread, run, written):
                yield item
        finally:
            # When this coroutine is cancelled while the thread is at work, the close waits there for its turn.
            run.stopped.set()
            self._thread.submit(written.close)

    def close(self, grace: float) -> None:
        """Nothing: the process ends, and its threads with it."""


async def _stepped(
    thread: Executor, run: Run, written: Generator[Payload, None, None]
) -> AsyncGenerator[Payload, None]:
    """What is written in a thread, and what the run says of itself while that is within a step."""
    while True:
        shown = run.state
        step = asyncio.get_running_loop().run_in_executor(thread, next, written, None)
        step.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be here by then
        while not (await asyncio.wait([step], timeout=SAY_S))[0]:
            if run.state is not shown:
                shown = run.state
                yield run.said()
        if (item := step.result()) is None:
            return
        yield item
