"""The Play tab: the Stage, the figures below it, and the events between page and engine."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import gradio as gr
from starlette.responses import Response

from app import figures
from app.drawings import Drawings
from app.examples import EXAMPLES
from app.loader import Loader
from app.offer import EVERYTHING, Offer
from app.payload import payload, status
from app.planner.play import Simulator
from app.planner.request import PlannerError
from app.reader import Reader
from app.recordings import MAX_FILE, PREFIX, RecordingError, Recordings, recorded
from app.runs import NameTaken, Run
from app.serve import Service
from app.settings import DEFAULTS, LIMITS, MAX_PROMPT, RequestError, check, parse, run_id, whole_text
from app.stage import Stage
from app.words import page as page_says
from app.words import run as says
from hsd_core.stacks.grammar import grammar
from hsd_core.trace import Event


class Play:
    """What the tab's handlers share: the recordings, the engine's service and its runs. One per page."""

    def __init__(self, pipeline: Any, recordings: Recordings, offer: Offer = EVERYTHING) -> None:
        self._pipeline = pipeline
        self.recordings = recordings
        self._offer = offer
        self.service = Service(Loader(pipeline, models=offer.models))
        self.runs = self.service.runs
        self._simulator = Simulator()
        self._drawings = Drawings()
        self.reader = Reader()

    def catalogue(self) -> list[dict[str, Any]]:
        """Every preset and its levels, usable or with the reason why not."""
        return self._offer.catalogue(self._pipeline.catalogue())

    def build(self) -> None:
        """Add the tab's components to the Blocks that is open."""
        stage = Stage(
            self.recordings.first(),
            setup={
                "why": page_says.WHY,
                "catalogue": self.catalogue(),
                "grammar": grammar(),
                "recordings": self.recordings.menu(),
                "examples": EXAMPLES,
                "limits": {**LIMITS, "prompt": MAX_PROMPT, "file": MAX_FILE},
                "defaults": DEFAULTS,
            },
            server_functions=[named(f) for f in (self.open_trace, self.simulate, self.stop, self.tail)],
        )
        stage.generate(
            self.generate,
            outputs=[stage],
            concurrency_limit=None,  # the line before the engine is our own
            show_progress="hidden",
            api_visibility="private",
        )
        panels = figures.build()
        stage.figures(self.figures, outputs=panels, queue=False, show_progress="hidden", api_visibility="private")

    async def generate(self, event: gr.EventData, request: gr.Request) -> AsyncGenerator[dict[str, Any], None]:
        """Run what the page asks for, when its turn has come."""
        data = event._data
        try:
            asked = parse(data)
            check(asked, self.catalogue())
        except RequestError as error:
            name = whole_text(str(data.get("run") if isinstance(data, dict) else "")[:64])
            yield payload(name, 0, [], True, status("error", str(error)))
            return
        async with aclosing(self.service.serve(asked, self.service.visitor(request))) as payloads:
            async for item in payloads:
                yield item

    def figures(self, event: gr.EventData) -> list[Any]:
        """The figures of a run that the server knows, for the theme and the size of the page."""
        data = event._data if isinstance(event._data, dict) else {}
        name = str(data.get("run", ""))
        run = self.runs.get(name)
        size = (len(run.packed) or len(run.live)) if run is not None else 0
        look = {part: data.get(part) is True for part in ("dark", "wall")}
        return self._drawings.of(name, lambda: self._events(name), size=size, **look)

    def open_trace(self, data: Any) -> dict[str, Any] | Response:
        """A trace that the visitor chose from their disk, as a payload that is packed already."""
        try:
            shown = self.reader.open(data)
        except RecordingError as error:
            return _error(error)
        return Response(shown, media_type="application/json", headers={"content-encoding": "gzip"})

    def simulate(self, data: Any) -> dict[str, Any]:
        """A plan of the Planner tab as a trace in which no model ran."""
        try:
            name = run_id(data.get("run") if isinstance(data, dict) else None)
            events = self._simulator.events(data)
            shown = recorded(name, events)
            self._keep(name, shown)
        except (RecordingError, RequestError, PlannerError, NameTaken) as error:
            return _error(error)
        return shown

    def stop(self, data: Any) -> bool:
        """Ask a run to end at its next forward."""
        self.runs.stop(run_id(data.get("run") if isinstance(data, dict) else None))
        return True

    def tail(self, data: Any) -> dict[str, Any]:
        """What a page misses that lost its stream or was loaded anew: records `from`.. of a run."""
        data = data if isinstance(data, dict) else {}
        name = whole_text(str(data.get("run", ""))[:64])
        run = self.runs.get(name)
        if run is None:
            return payload(name, 0, [], True, status("error", says.NO_LONGER))
        run.looked = time.monotonic()
        final, records, start = run.stage == "done", run.records, data.get("from", 0)
        start = min(start, len(records)) if isinstance(start, int) and start >= 0 else 0
        return payload(run.name, start, records[start:], final, run.state)

    def _keep(self, name: str, shown: dict[str, Any]) -> None:
        run = Run(name, opened=True, live=shown["ev"], state=shown["status"])
        run.done()
        self.runs.announce(run)

    def _events(self, name: str) -> list[Event]:
        if name.startswith(PREFIX):
            try:
                return self.recordings.events(name.removeprefix(PREFIX))
            except RecordingError:
                return []
        run = self.runs.get(name)
        return list(run.events) if run is not None else self.reader.events(name)


def named(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A server function of a component: a plain one under the method's name, as Gradio marks it with an attribute."""

    def call(data: Any) -> Any:
        try:
            return method(data)
        except RequestError as error:
            return _error(error)

    call.__name__ = method.__name__
    return call


def _error(error: Exception) -> dict[str, Any]:
    return payload("", 0, [], True, status("error", whole_text(str(error))))
