"""The Explore tab: the Stage, the figures below it, and the events between page and engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.responses import Response
from starlette.routing import BaseRoute

from app.kit.figures import panels
from app.kit.figures.drawings import Drawings
from app.kit.mounted import Mounted, asked
from app.kit.payload import dumps, payload, status
from app.kit.supervised import NOWHERE, Kept
from app.serve.engine import RUN, Engine
from app.serve.engines.choice import engine_for
from app.serve.line.known_runs import NameTaken, Run
from app.serve.offer import EVERYTHING, ServerOffer, meant
from app.serve.service import Service, queued
from app.serve.settings import (
    DEFAULTS,
    LIMITS,
    RequestError,
    RunRequest,
    check,
    parse,
    prompt_characters,
    run_id,
    whole_text,
)
from app.tabs.explore import long_texts
from app.tabs.explore.codes import code_route, offline_route
from app.tabs.explore.examples import EXAMPLES
from app.tabs.explore.opening_run import opening
from app.tabs.explore.reader import Reader
from app.tabs.explore.recordings import MAX_FILE, PREFIX, RecordingError, Recordings, recorded, recording_route
from app.tabs.explore.simulator import Simulator
from app.tabs.planner.profiles.plan_request import PlannerError
from app.tabs.shipped import Shipped
from app.words import page as page_says
from hsd_core.core.events import Event
from hsd_core.grammar.stack_text import grammar

TITLE = "Explore"


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's components to the Blocks that is open."""
    play.build()


def routes(shipped: Shipped) -> list[BaseRoute]:
    return [recording_route(Recordings(shipped.traces)), code_route(), offline_route()]


class Play:
    """What the tab's handlers share: the recordings, the engine's service and its runs. One per page."""

    def __init__(
        self,
        pipeline: Any,
        recordings: Recordings,
        offer: ServerOffer = EVERYTHING,
        engine: Engine | None = None,
        kept: Kept = NOWHERE,
    ) -> None:
        self._pipeline = pipeline
        self.recordings = recordings
        self._offer = offer
        self.service = Service(engine or engine_for("inline", pipeline, offer), kept)
        self.runs = self.service.runs
        self.longest = prompt_characters(offer.prompt_tokens)
        self._simulator = Simulator()
        self._drawings = Drawings()
        self.reader = Reader()

    def catalogue(self) -> list[dict[str, Any]]:
        """Every preset and its levels, usable or with the reason why not. `default` also says whether a press measures
        this machine: where the engine runs on it."""
        here = self.service.engine.here
        shown = self._offer.catalogue(self._pipeline.catalogue())
        return [{**one, "default": {**one["default"], "measures": here}} if "default" in one else one for one in shown]

    def build(self) -> None:
        """Add the tab's components to the Blocks that is open."""
        stage = Mounted(
            "tabs/explore/explore.js",
            self.recordings.first(),
            elem_id="stage",
            events=["generate", "figures"],
            setup={
                "why": page_says.WHY,
                "catalogue": self.catalogue(),
                "grammar": grammar(),
                "recordings": self.recordings.menu(),
                "story": opening() is not None,
                "examples": EXAMPLES,
                "longTexts": long_texts.menu(),
                "promptTokens": self._offer.prompt_tokens,
                "limits": {**LIMITS, "prompt": self.longest, "file": MAX_FILE},
                "defaults": DEFAULTS,
            },
            server_functions=[
                named(f)
                for f in (
                    self.open_trace,
                    self.simulate,
                    self.stop,
                    self.tail,
                    self.offered,
                    self.pace,
                    long_texts.long_text,
                )
            ],
        )
        queued(stage, "generate", self.service, self._asked, RUN)
        stage.figures(
            self.figures, outputs=panels.build(), queue=False, show_progress="hidden", api_visibility="private"
        )

    async def _asked(self, data: Any) -> RunRequest:
        catalogue = self.catalogue()
        asked = meant(parse(data, self.longest), catalogue)
        check(asked, catalogue)
        return asked

    def offered(self, _: Any) -> dict[str, Any]:
        """The catalogue now, where it changes with what is fetched and found out. `settled`: nothing is being asked."""
        catalogue = self.catalogue()
        return {"catalogue": catalogue, "settled": not self._offer.looks.busy}

    def pace(self, _: Any) -> dict[str, Any]:
        """What is known before a run is asked for; see `Service.pace`."""
        return self.service.pace()

    def figures(self, event: gr.EventData) -> list[Any]:
        """The figures of a run that the server knows, for the theme and the size of the page."""
        data = asked(event)
        data = data if isinstance(data, dict) else {}
        given = data.get("run")
        name = given[:80] if isinstance(given, str) else ""
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
        """What a page misses that lost its stream or was reloaded: records `from`.. of a run."""
        data = data if isinstance(data, dict) else {}
        name = whole_text(str(data.get("run", ""))[:64])
        run = self.runs.get(name)
        if run is None:
            return payload(name, 0, [], True, status("error", self.runs.unknown))
        run.looked, run.left = time.monotonic(), False
        final, records, start = run.stage == "done", run.records, data.get("from", 0)
        start = min(start, len(records)) if isinstance(start, int) and start >= 0 else 0
        return payload(run.name, start, records[start:], final, run.state)

    def _keep(self, name: str, shown: dict[str, Any]) -> None:
        run = Run(name, opened=True, live=shown["ev"], state=shown["status"])
        run.done()
        self.runs.announce(run)
        self.runs.keep(run)

    def _events(self, name: str) -> list[Event]:
        if name.startswith(PREFIX):
            try:
                return self.recordings.events(name.removeprefix(PREFIX))
            except RecordingError:
                return []
        run = self.runs.get(name)
        return list(run.events) if run is not None else self.reader.events(name)


def named(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A server function of a component: a plain one under the method's name, as Gradio marks it with an attribute.

    What it returns becomes JSON here, in a thread of its own: FastAPI would do it where all others are answered.
    """

    def call(data: Any) -> Response:
        try:
            found = method(data)
        except RequestError as error:
            found = _error(error)
        return found if isinstance(found, Response) else Response(dumps(found), media_type="application/json")

    call.__name__ = method.__name__
    return call


def _error(error: Exception) -> dict[str, Any]:
    return payload("", 0, [], True, status("error", whole_text(str(error))))
