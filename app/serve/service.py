"""The engine as the page and the API use it: the line before it, and the runs that it knows."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any, cast

import gradio as gr
from gradio.context import LocalContext

from app.kit.mounted import asked as sent
from app.kit.payload import payload, status
from app.kit.supervised import NOWHERE, Kept
from app.serve.door.presence import CALLER, LEFT_S, Presence
from app.serve.engine import Engine, EngineWork, Job, Payload, W
from app.serve.line.class_caps import ClassCaps
from app.serve.line.known_runs import AWAY_S, CUT_S, RETURN_S, NameTaken, Run, Runs, Visitor
from app.serve.line.line import OF_A_SESSION, Left, Line, Refused
from app.serve.settings import RequestError, whole_text
from app.serve.watch.logs import log_run
from app.serve.watch.prometheus import End, Metrics, Tally
from app.serve.watch.resident import resident
from app.words import run as says

FETCHES = 24  # runs whose weights are fetched before they stand in line
IDLE_S = 4.0  # so long nobody runs or waits before the engine does what nobody asked for
Who = Callable[[Mapping[str, str]], tuple[str, bool, bool]]


class Service:
    """One per page; its coroutines belong to the web server's event loop."""

    def __init__(self, engine: Engine, kept: Kept = NOWHERE) -> None:
        self.engine, self._kept = engine, kept
        self.presence = Presence()
        self.runs = Runs(kept)
        self.line = Line(at_once=lambda: engine.places)
        self.metrics = Metrics(self.health)
        self._fetching: Counter[str] = Counter()  # by session
        self._tasks: set[asyncio.Task[None]] = set()  # runs that go on without their page, or never had one
        self.when_idle: Callable[[EngineWork], tuple[Job[Any], Any] | None] = lambda request: None
        self._who: Who | None = None

    def hold_class(self, who: Who, caps: ClassCaps) -> None:
        """Bound what learners run, and have the instructor's runs go first.

        Args:
            who: in the room sends these cookies, as `Visitor` has `person`, `leads` and `answered`.
        """
        self._who, self.line.class_caps = who, caps

    def health(self) -> dict[str, Any]:
        """Of page and engine, how many runs wait for their turn, how many have it, and how many may at a time."""
        how, running = asdict(self.engine.health), self.line.running
        if how["state"] == "ok" and any(run.state.get("mode") == "loading" for run in running):
            how["state"] = "loading"
        page = {"page": "ok", "pid": os.getpid(), "restarts": len(self._kept.ends), "memory": resident()}
        turns = {"waiting": self.line.length, "running": len(running), "places": self.engine.places}
        return {**page, "engine": how, **turns}

    def pace(self) -> dict[str, Any]:
        """For who has not asked for a run yet: how many come before it, how many answers are written in a minute."""
        return {"ahead": self.line.length + len(self.line.running), "answers": self.line.pace}

    def visitor(self, request: gr.Request | None) -> Visitor:
        """Who asks. A caller without a session listens under the name of its event."""
        if request is None:
            return Visitor()
        event, client = LocalContext.event_id.get(None), request.client
        # All callers of the tools share one session, of Gradio's MCP server: each is heard under its call's own name.
        call = request.headers.get(CALLER) if from_tools(request) else None
        names = tuple(name for name in ((call,) if call else (request.session_hash, event)) if name) or ("",)
        member = self._who(request.cookies) if self._who else ("", False, False)
        return Visitor(names, str(client.host) if client else "", self.presence.has_page(names[0]), *member)

    async def serve(self, job: Job[W], request: W, visitor: Visitor) -> AsyncGenerator[Payload, None]:
        """Payloads of work for the engine: while its weights are fetched, of its place in line, then what the engine
        sends of it. The last one is final, whatever happens. A page that leaves has a while to come back for its run:
        long while that waits in line, short where it was closed and others wait for its run to end."""

        def gone(names: tuple[str, ...]) -> bool:
            held_up = run.left and self.line.runs(run) and self.line.awaited
            patience = AWAY_S if run.in_line else RETURN_S if run.left else CUT_S
            patience = patience if visitor.page and not held_up else LEFT_S
            return time.monotonic() - run.looked > patience and self.presence.gone(names, after=patience)

        group = partial(self.engine.group, job, request)
        run = Run(request.run, visitor, self.presence.hears, gone, request.kind, group)
        try:
            self.runs.announce(run)
        except NameTaken as error:
            yield payload(run.name, 0, [], True, status("error", str(error)))
            return
        attended = self._attended(run, job, request)
        try:
            async for item in attended:
                yield item
        finally:
            if visitor.page and run.stage != "done" and not run.stopped.is_set():
                # The page may only be reloading: the run goes on until it is over, which it asks itself.
                self._apart(_to_its_end(attended))
            else:
                await attended.aclose()
            if run.visitor.page and run.stage == "done" and not run.cut and (more := self.when_idle(request)):
                self._apart(self._while_idle(*more))

    def _apart(self, work: Coroutine[Any, Any, None]) -> None:
        going = asyncio.create_task(work)
        self._tasks.add(going)
        going.add_done_callback(self._tasks.discard)

    async def _while_idle(self, job: Job[W], request: W) -> None:
        """Work that nobody asked for: it begins when nobody runs or waits, and ends when somebody does."""
        await asyncio.sleep(IDLE_S)
        if not (self.line.running or self.line.length):
            run = Run(request.run, kind=request.kind, group=partial(self.engine.group, job, request))
            run.gone = lambda _: self.line.runs(run) and self.line.awaited
            await _to_its_end(self._attended(run, job, request))

    async def _attended(self, run: Run, job: Job[W], request: W) -> AsyncGenerator[Payload, None]:
        came = time.monotonic()
        try:
            if self.engine.lacks(request):
                await self.line.heard(run)  # until then nobody would seem to wait for it
                async with aclosing(self._fetched(run, job, request)) as told:
                    async for item in told:
                        yield item
            async with aclosing(self.line.enter(run)) as places:
                async for ahead, wait in places:
                    state = waiting(ahead, wait, self.engine.places)
                    if state != run.state:
                        run.state = state
                        yield run.said()
        except (Refused, Left) as error:
            run.state = status("error" if isinstance(error, Refused) else "idle", str(error))
            self._over(job, request, run, "refused" if isinstance(error, Refused) else "stopped", came)
            yield run.said(final=True)
            return
        finally:
            if not self.line.runs(run):
                run.done()
        whole, tally, began, run.loading = False, Tally(), time.monotonic(), 0.0
        self.metrics.waited(began - came)
        try:
            async with aclosing(self.engine.work(job, self._behind(request, run.visitor), run)) as sent:
                async for item in sent:
                    self.metrics.count(tally, item)
                    yield item
            whole = not run.cut and run.state.get("mode") == "live"
        finally:
            run.stopped.set()
            self.line.leave(run, whole=whole)
            failed = run.state.get("mode") == "error"
            self._over(job, request, run, "done" if whole else "error" if failed else "stopped", came, began, tally)
            asyncio.get_running_loop().run_in_executor(None, self.runs.keep, run)

    def _behind(self, request: W, visitor: Visitor) -> W:
        """The request behind what its visitor's page has had written, where a level of it looks there."""
        if not visitor.page or not getattr(request, "looks_back", False):
            return request
        asked: Any = request
        return cast(W, asked.behind(self.runs.written(visitor.session, request.preset)))

    def _over(
        self,
        job: Job[W],
        request: W,
        run: Run,
        end: End,
        came: float,
        began: float | None = None,
        tally: Tally | None = None,
    ) -> None:
        """Say of a run that is over how it ended. came, began: when it was asked for, and when its turn came."""
        tally, now = tally or Tally(), time.monotonic()
        took = None if began is None else now - began
        self.metrics.ended(job.name, request.preset, end, tally, took)
        log_run(
            run=run.name,
            job=job.name,
            preset=request.preset,
            end=end,
            waited_s=round((began or now) - came, 3),
            took_s=None if took is None else round(took, 3),
            asked=request.kind.tokens,
            tokens=tally.tokens,
            rounds=tally.rounds,
        )

    async def _fetched(self, run: Run, job: Job[W], request: W) -> AsyncGenerator[Payload, None]:
        """What is told while weights are fetched, which holds up nobody who wants others.

        Raises:
            Refused: too many are fetched already, or they cannot be had. Left: it was stopped, or nobody listens.
        """
        session = run.visitor.session
        if self._fetching[session] >= OF_A_SESSION:
            raise Refused(says.of_session(OF_A_SESSION))
        if self._fetching.total() >= FETCHES:
            raise Refused(says.all_fetches(FETCHES))
        self._fetching[session] += 1
        try:
            async with aclosing(self.engine.fetch(job, request, run)) as told:
                async for item in told:
                    yield item
        finally:
            self._fetching[session] -= 1
            self._fetching += Counter()  # forgets who has none
        if run.over():
            raise Left(says.STOPPED_EARLY)
        if run.state.get("mode") == "error":
            raise Refused(run.state["text"])


def from_tools(request: gr.Request) -> bool:
    """Whether Gradio's MCP server calls, for one of its clients."""
    return bool(request.headers.get("x-gradio-user") == "mcp")


async def _to_its_end(attended: AsyncGenerator[Payload, None]) -> None:
    async with aclosing(attended):
        async for _ in attended:
            pass


def waiting(ahead: int, wait: tuple[float, float] | None, seats: int = 1) -> Payload:
    """What a run that waits says: how many come before it, and an estimate (s, from and to) where recent runs allow
    one. seats: how many have their turns together."""
    more: dict[str, Any] = {"wait": [round(end, 1) for end in wait]} if wait is not None else {}
    detail = says.at_a_time(seats) if seats > 1 else says.IN_LINE
    return status("waiting", says.waiting(ahead, wait), detail=detail, ahead=ahead, **more)


# ---- What a component's event asks of the engine: one handler for runs, races and measurements alike


def queued(view: Any, event: str, service: Service, ask: Callable[[Any], Awaitable[W]], job: Job[W]) -> None:
    """Have the engine do what an event of a component asks for, when its turn has come; its payloads go there.

    Args:
        view: the component; its Blocks is open. event: the name of its event.
        ask: what is asked for, from what the page sends; raises RequestError where it cannot be done.
        job: that it is.
    """

    async def handled(given: gr.EventData, request: gr.Request) -> AsyncGenerator[Payload, None]:
        data = sent(given)
        try:
            asked = await ask(data)
        except RequestError as error:
            name = whole_text(str(data.get("run", "") if isinstance(data, dict) else "")[:64])
            yield payload(name, 0, [], True, status("error", str(error)))
            return
        async with aclosing(service.serve(job, asked, service.visitor(request))) as payloads:
            async for item in payloads:
                yield item

    handled.__name__ = event  # as Gradio calls it
    getattr(view, event)(
        handled,
        outputs=[view],
        concurrency_limit=None,  # the line before the engine is our own
        show_progress="hidden",
        api_visibility="private",
    )
