"""The engine on ZeroGPU, where a graphics card is lent for one call of one function, in a process forked for it.

The page's process runs no model. The function is given plain bytes and yields plain bytes, messages of the protocol
(`engines.messages`), at least every `PULSE_S`; whose quota it costs is known by the visitor's context, which goes
along. What a worker has loaded is kept in it, and may be missing at the next call.
"""

from __future__ import annotations

import asyncio
import math
import mmap
import multiprocessing
import queue
import re
import threading
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import msgspec

from app.kit.payload import status
from app.serve.engine import EngineHealth, Job, Payload, W
from app.serve.engines.attending import AttendedRun, sent
from app.serve.engines.inline import InlineEngine
from app.serve.engines.messages import Begin, Hello, Over, Sent, Told, from_engine, from_page, offer_of, pack
from app.serve.engines.process import applied
from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.offer import loader_for
from app.words import engine as says
from app.words import run as run_says
from hsd_core.typed import decode_message

PULSE_S = 0.1  # a worker sees that it is to end between two yields
LOOK_S = 0.1
PLACES = 4  # runs at a time, each with a card of its own
OPEN_S, TOKENS_A_S, MOST_S = 10, 15, 120  # asked of the quota: for opening the model, for tokens of a run, at most
BACK_S = 1.0  # sooner than that a run ends by itself: who is over time loses the card with whatever has not been told
_QUOTA = re.compile(  # what `spaces` says where it is used up, with a timedelta
    r"\((\d+)s requested vs\. (\d+)s left\)\. Try again in (?:(\d+) days?, )?(\d+):(\d\d):(\d\d)"
)
Jobs = Mapping[str, Job[Any]]
GPU = Callable[[bytes, bytes, int], Iterator[bytes]]  # what `lent` does, on a card

# By place, whether its run is to end: memory that a forked worker shares, so it exists before the first of them.
_ENDS = mmap.mmap(-1, PLACES)
_kept: dict[bytes, tuple[Loader, ThreadPoolExecutor]] = {}  # of a worker, by what is offered


def seconds(jobs: Jobs, asked: bytes) -> int:
    """What a run asks of a visitor's quota: little, since what is asked has to be left."""
    begin = from_page(asked)
    assert isinstance(begin, Begin)
    request = decode_message(begin.request, jobs[begin.job].request)
    tokens: int = request.kind.tokens
    return min(MOST_S, OPEN_S + math.ceil(tokens / TOKENS_A_S))


def lent(pipeline: Any, jobs: Jobs, hello: bytes, asked: bytes, place: int) -> Iterator[bytes]:
    """What a run tells, packed, while a card is lent: the body of the function that is decorated.

    Args:
        pipeline: the class that opens presets. jobs: what may be asked for, by name.
        hello: packed, what is offered. asked: a packed `Begin`. place: of the run, among those at work.
    """
    begin = from_page(asked)
    assert isinstance(begin, Begin)
    job = jobs[begin.job]
    request = decode_message(begin.request, job.request)
    until = time.monotonic() + seconds(jobs, asked) - BACK_S
    loader, thread = _kept.get(hello) or _opened(pipeline, hello)
    run, told, late = AttendedRun(begin.run), queue.SimpleQueue[bytes | None](), threading.Event()

    def write() -> None:
        try:
            for item in job.write(loader, request, run):
                if late.is_set() and item["final"] and item["status"]["mode"] != "error":
                    item = {**item, "status": {**item["status"], "text": says.CARD_TIME_IS_OVER}}
                told.put(pack(sent(run, item)))
        finally:
            told.put(None)

    done = thread.submit(write)
    try:
        while True:
            if _ENDS[place]:
                run.stop()
            elif time.monotonic() > until and not run.stopped.is_set():
                late.set()
                run.stop()
            try:
                body = told.get(timeout=PULSE_S)
            except queue.Empty:
                yield pack(Told(run.name, run.state, run.loading))
                continue
            if body is None:
                break
            yield body
        done.result()
        yield pack(Over(run.name, "begin"))
    finally:
        run.stop()
        wait([done])  # behind this the card is another's


def _opened(pipeline: Any, hello: bytes) -> tuple[Loader, ThreadPoolExecutor]:
    said = from_page(hello)
    assert isinstance(said, Hello)
    _kept[hello] = loader_for(pipeline, offer_of(said)), ThreadPoolExecutor(1, thread_name_prefix="engine")
    return _kept[hello]


class ZeroEngine:
    """
    Args:
        gpu: the decorated function. hello: what is offered.
        loader: fetches weights in the page's process, where they cost nobody's quota.
    """

    def __init__(self, gpu: GPU, hello: Hello, loader: Loader) -> None:
        self._gpu, self._hello = gpu, pack(hello)
        self._fetching = InlineEngine(loader)
        self.lacks, self.fetch = self._fetching.lacks, self._fetching.fetch
        self._free = list(range(PLACES))
        # One for each place: what ends a run there comes behind the step that it is within.
        self._threads = [ThreadPoolExecutor(1, thread_name_prefix="lent") for _ in self._free]

    @property
    def health(self) -> EngineHealth:
        return EngineHealth()

    @property
    def here(self) -> bool:
        return False

    @property
    def places(self) -> int:
        return PLACES

    def group(self, job: Job[W], request: W) -> Hashable | None:
        return ""

    def start(self) -> None:
        """Nothing: workers are forked when they are needed."""

    def close(self, grace: float) -> None:
        """End the workers, which would outlive a process that ends at once."""
        for worker in multiprocessing.active_children():
            worker.kill()

    async def work(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        run.stage = "running"
        while not self._free:  # a run that was left ends within a step
            await asyncio.sleep(LOOK_S)
        place, context = self._free.pop(), copy_context()
        _ENDS[place] = 0
        asked = pack(Begin(run.name, job.name, msgspec.Raw(msgspec.msgpack.encode(request))))
        messages = context.run(self._gpu, self._hello, asked, place)

        def step(act: Callable[..., Any], *given: Any) -> asyncio.Future[Any]:
            thread = self._threads[place]
            return asyncio.get_running_loop().run_in_executor(thread, lambda: context.run(act, *given))

        def end() -> None:
            try:
                getattr(messages, "close", lambda: None)()
            finally:
                self._free.append(place)

        try:
            run.state = status("loading", says.ASKS_FOR_GPU, detail=run_says.MEANWHILE, stage="engine")
            yield run.said()
            while True:
                coming = step(next, messages, None)
                while not (await asyncio.wait([coming], timeout=LOOK_S))[0]:
                    _ENDS[place] = run.over()
                if (body := coming.result()) is None:
                    break
                _ENDS[place] = run.over()
                told = from_engine(body)
                if isinstance(told, Told | Sent) and (item := applied(run, told)) is not None:
                    yield item
        except Exception as error:  # no quota is left, no card was free, or the worker ended
            why = says.lost_gpu if run.live else says.no_gpu
            detail = says.LEFT_TEXT if run.live else run_says.STILL_HERE
            run.state = status("error", why(_said(error)), detail=detail)
            yield run.wrote(final=True)
        finally:
            _ENDS[place] = 1
            run.stopped.set()
            with suppress(Exception):
                await step(end)
            await asyncio.to_thread(run.done)


def _said(error: Exception) -> str:
    """An error's own words, which may be markup for a browser; of a quota that is used up, one plain sentence.

    The Hub tells a Space what is left of a visitor's quota when it refuses a card, and at no other time.
    """
    text = re.sub(r"<[^>]*>", "", str(getattr(error, "message", "") or error)).strip().rstrip(".")
    if (found := _QUOTA.search(text)) is None:
        return text
    asked, left, days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    rest = 60 * (24 * days + hours) + minutes + (seconds > 0)  # minutes
    wait = " ".join(f"{n} {unit}" for n, unit in ((rest // 60, "h"), (rest % 60, "min")) if n)
    return says.short_quota(asked, left, wait or "1 min", left > OPEN_S)
