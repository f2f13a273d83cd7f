"""The engine as the page and the API use it: the line before it, one thread of its own, and the runs it knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial

import gradio as gr
from gradio.context import LocalContext

from app.kit.payload import payload, status
from app.serve.door.presence import LEFT_S, Presence
from app.serve.engine import Payload, W, Write
from app.serve.line.known_runs import RETURN_S, NameTaken, Run, Runs, Visitor
from app.serve.line.line import Left, Line, Refused
from app.serve.line.run_lengths import ANY, RunKind
from app.serve.loader import Loader, behind
from app.words import run as says

SAY_S = 0.5


class Service:
    """One per page; its coroutines belong to the web server's event loop."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.presence = Presence()
        self.runs = Runs()
        self.line = Line()
        self._left: set[asyncio.Task[None]] = set()  # runs that go on without their page
        # One thread: torch keeps a team of workers, and malloc a pool of memory, for each that ever ran a model.
        self._engine = ThreadPoolExecutor(1, thread_name_prefix="engine", initializer=behind)

    def visitor(self, request: gr.Request | None) -> Visitor:
        """Who asks. A caller without a session listens under the name of its event."""
        if request is None:
            return Visitor()
        event, client = LocalContext.event_id.get(None), request.client
        names = tuple(name for name in (request.session_hash, event) if name) or ("",)
        return Visitor(names, str(client.host) if client else "", self.presence.has_page(names[0]))

    def serve(self, request: W, visitor: Visitor, write: Write[W]) -> AsyncGenerator[Payload, None]:
        """Payloads of work for the engine, as `write` gives them; see `attend`."""
        return self.attend(request.run, visitor, partial(write, self.loader, request), request.kind)

    async def attend(
        self,
        name: str,
        visitor: Visitor,
        write: Callable[[Run], Generator[Payload, None, None]],
        kind: RunKind = ANY,
    ) -> AsyncGenerator[Payload, None]:
        """Payloads of work for the engine: its place in line, then what `write` gives for its run, in the engine's
        thread. The last one is final, whatever happens. A page that leaves has a while to come back for its run, less
        where others wait for it to end."""

        def gone(names: tuple[str, ...]) -> bool:
            held_up = self.line.running is run and self.line.awaited
            return self.presence.gone(names, after=RETURN_S if visitor.page and not held_up else LEFT_S)

        run = Run(name, visitor, self.presence.hears, gone, kind)
        try:
            self.runs.announce(run)
        except NameTaken as error:
            yield payload(name, 0, [], True, status("error", str(error)))
            return
        attended = self._attended(run, write)
        try:
            async for item in attended:
                yield item
        finally:
            if visitor.page and run.stage != "done" and not run.stopped.is_set():
                # The page may only be reloading: the run goes on until it is over, which it asks itself.
                going = asyncio.create_task(_to_its_end(attended))
                self._left.add(going)
                going.add_done_callback(self._left.discard)
            else:
                await attended.aclose()

    async def _attended(
        self, run: Run, write: Callable[[Run], Generator[Payload, None, None]]
    ) -> AsyncGenerator[Payload, None]:
        try:
            async with aclosing(self.line.enter(run)) as places:
                async for ahead, wait in places:
                    state = waiting(ahead, wait)
                    if state != run.state:
                        run.state = state
                        yield payload(run.name, 0, [], False, state)
        except (Refused, Left) as error:
            run.state = status("error" if isinstance(error, Refused) else "idle", str(error))
            yield payload(run.name, 0, [], True, run.state)
            return
        finally:
            if self.line.running is not run:
                run.done()
        written, whole = write(run), False
        try:
            async for item in self._stepped(run, written):
                yield item
            whole = not run.cut and run.state.get("mode") == "live"
        finally:
            # When this coroutine is cancelled while the thread is at work, the close waits there for its turn.
            run.stopped.set()
            self._engine.submit(written.close)
            self.line.leave(run, whole=whole)

    async def _stepped(self, run: Run, written: Generator[Payload, None, None]) -> AsyncGenerator[Payload, None]:
        """What is written, and what the run says of itself while the engine is within a step."""
        while True:
            shown = run.state
            step = asyncio.get_running_loop().run_in_executor(self._engine, next, written, None)
            step.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be here by then
            while not (await asyncio.wait([step], timeout=SAY_S))[0]:
                if run.state is not shown:
                    shown = run.state
                    yield payload(run.name, 0, [], False, shown)
            if (item := step.result()) is None:
                return
            yield item


async def _to_its_end(attended: AsyncGenerator[Payload, None]) -> None:
    async with aclosing(attended):
        async for _ in attended:
            pass


def waiting(ahead: int, wait: tuple[float, float] | None) -> Payload:
    """What a run that waits says: how many come before it, and an estimate where recent runs allow one."""
    return status("waiting", says.waiting(ahead, wait), detail=says.MEANWHILE)
