"""The Play tab: the Stage, the figures below it, and the events between page and engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
from starlette.responses import Response

from app import figures
from app.examples import EXAMPLES
from app.generate import MEANWHILE, Loader, stream
from app.payload import payload, status
from app.planner.play import Simulator
from app.planner.request import PlannerError
from app.reader import Reader
from app.recordings import MAX_FILE, PREFIX, RecordingError, Recordings, recorded
from app.runs import QUEUE, Runs
from app.settings import DEFAULTS, LIMITS, MAX_PROMPT, RequestError, check_ids, parse, run_id, whole_text
from app.stage import Stage
from hsd_core.trace import Event


class Play:
    """What the tab's handlers share: the recordings, the loader and the runs. One per page."""

    def __init__(self, workbench: Any, recordings: Recordings) -> None:
        self._workbench = workbench
        self._recordings = recordings
        self.loader = Loader(workbench)
        self.runs = Runs()
        self._simulator = Simulator()
        self._reader = Reader()

    def catalogue(self) -> list[dict[str, Any]]:
        """Every preset and its levels."""
        catalogue: list[dict[str, Any]] = self._workbench.catalogue()
        return catalogue

    def build(self) -> None:
        """Add the tab's components to the Blocks that is open."""
        stage = Stage(
            self._recordings.first(),
            setup={
                "catalogue": self.catalogue(),
                "recordings": self._recordings.menu(),
                "examples": EXAMPLES,
                "limits": {**LIMITS, "prompt": MAX_PROMPT, "file": MAX_FILE, "queue": QUEUE},
                "defaults": DEFAULTS,
            },
            server_functions=[
                _named(f) for f in (self.recording, self.open_trace, self.simulate, self.stop, self.place, self.tail)
            ],
        )
        stage.generate(
            self.generate,
            outputs=[stage],
            concurrency_id="model",
            concurrency_limit=1,
            show_progress="hidden",
            api_visibility="private",
        )
        panels = figures.build()
        stage.figures(self.figures, outputs=panels, queue=False, show_progress="hidden", api_visibility="private")

    def generate(self, event: gr.EventData) -> Iterator[dict[str, Any]]:
        """Run what the page asks for, in the queue of the model."""
        data = event._data
        try:
            request = parse(data)
            check_ids(request, self.catalogue())
        except RequestError as error:
            name = whole_text(str(data.get("run") if isinstance(data, dict) else "")[:64])
            refused = self.runs.get(name)
            if refused is not None:
                refused.stage, refused.state = "done", status("error", str(error))
            yield payload(name, 0, [], True, status("error", str(error)))
            return
        run = self.runs.announce(request.run)
        yield from stream(self.loader, request, run)

    def figures(self, event: gr.EventData) -> list[Any]:
        """The figures of a run that the server knows, for the theme that the page shows."""
        data = event._data if isinstance(event._data, dict) else {}
        return figures.draw(self._events(str(data.get("run", ""))), dark=data.get("dark") is True)

    def recording(self, data: Any) -> dict[str, Any]:
        """A bundled recording, by name."""
        try:
            return self._recordings.payload(str(data.get("name", "")) if isinstance(data, dict) else "")
        except RecordingError as error:
            return _error(error)

    def open_trace(self, data: Any) -> dict[str, Any] | Response:
        """A trace that the visitor chose from their disk, as a payload that is packed already."""
        try:
            shown = self._reader.open(data)
        except RecordingError as error:
            return _error(error)
        return Response(shown, media_type="application/json", headers={"content-encoding": "gzip"})

    def simulate(self, data: Any) -> dict[str, Any]:
        """A plan of the Planner tab as a trace in which no model ran."""
        try:
            name = run_id(data.get("run") if isinstance(data, dict) else None)
            events = self._simulator.events(data)
            shown = recorded(name, events)
        except (RecordingError, RequestError, PlannerError) as error:
            return _error(error)
        self._keep(name, events, shown)
        return shown

    def stop(self, data: Any) -> bool:
        """Ask a run to end at its next round."""
        self.runs.stop(run_id(data.get("run") if isinstance(data, dict) else None))
        return True

    def place(self, data: Any) -> int:
        """How many runs come before this one. Only the `first` call, when Generate is pressed, makes the run known."""
        data = data if isinstance(data, dict) else {}
        name = run_id(data.get("run"))
        if data.get("first") is True and self.runs.ahead(name) <= QUEUE:
            self.runs.announce(name)
        return self.runs.ahead(name)

    def tail(self, data: Any) -> dict[str, Any]:
        """What a page that lost its stream misses: records `from`.. of a run."""
        data = data if isinstance(data, dict) else {}
        name = whole_text(str(data.get("run", ""))[:64])
        run = self.runs.get(name)
        if run is None or self.runs.lost(run):
            return payload(name, 0, [], True, status("error", "the server no longer has this run; generate again"))
        start = data.get("from", 0)
        start = start if isinstance(start, int) and 0 <= start <= len(run.records) else 0
        final = run.stage == "done"
        return payload(run.name, start, run.records[start:], final and start == 0, run.state or self._waiting(name))

    def _keep(self, name: str, events: list[Event], shown: dict[str, Any]) -> None:
        run = self.runs.announce(name, opened=True)
        run.events, run.records, run.state, run.stage = events, shown["ev"], shown["status"], "done"

    def _waiting(self, name: str) -> dict[str, Any]:
        before = self.runs.ahead(name)
        said = f"{before} {'run is' if before == 1 else 'runs are'} before yours" if before else "yours is next"
        return status("waiting", f"waiting: {said}", detail=MEANWHILE)

    def _events(self, name: str) -> list[Event]:
        if name.startswith(PREFIX):
            try:
                return self._recordings.events(name.removeprefix(PREFIX))
            except RecordingError:
                return []
        run = self.runs.get(name)
        return list(run.events) if run is not None else self._reader.events(name)


def _named(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A plain function under the method's name: Gradio marks server functions with an attribute."""

    def call(data: Any) -> Any:
        try:
            return method(data)
        except RequestError as error:
            return _error(error)

    call.__name__ = method.__name__
    return call


def _error(error: Exception) -> dict[str, Any]:
    return payload("", 0, [], True, status("error", whole_text(str(error))))
