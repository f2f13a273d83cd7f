"""A live run: the engine's events, sent to the page at 10 payloads a second or fewer, the whole trace last.

The engine runs in this generator itself, so whatever closes the generator (Stop, a closed page, an error) closes
the engine. Only loading weights happens beside it, in a thread, so that its progress can be told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

from app.payload import Wire, payload, status
from app.runs import Run
from app.settings import RunRequest
from hsd_core.trace import Baseline, Event, Footer, Header

PERIOD_S = 0.1
LOADING = {
    "download": "fetching the weights (once; they are kept)",
    "convert": "converting the weights (once, about a minute)",
    "load": "loading the weights (some seconds)",
}
MEANWHILE = "Meanwhile you can replay a recording."
MEASURING = "measuring plain decoding of the same target"
READING = "reading what every layer made of the text"
ENDINGS = {
    "eos": "the text is complete",
    "length": "the length limit was reached",
    "context": "the context is full",
    "stopped": "stopped",
}
log = logging.getLogger(__name__)


class Loader:
    """Opens workbenches, one at a time, and reports how far it is. `workbench` is the class from hsd_core."""

    def __init__(self, workbench: Any) -> None:
        self._workbench = workbench
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="load")
        self._open: dict[tuple[str, str | None], Any] = {}

    def opening(self, preset: str, device: str | None, progress: list[tuple[str, float, float]]) -> Future[Any]:
        """A future of the workbench; `progress` gets (stage, done, total) as it goes."""
        key = (preset, device)
        if key in self._open:
            ready: Future[Any] = Future()
            ready.set_result(self._open[key])
            return ready
        return self._pool.submit(self._load, key, progress)

    def size(self, preset: str) -> str:
        """What is still to be fetched for a preset, "" if nothing."""
        entry: dict[str, Any] = next((p for p in self._workbench.catalogue() if p["name"] == preset), {})
        return f"{entry['download_mb']:.0f} MB" if entry.get("download_mb") else ""

    def _load(self, key: tuple[str, str | None], progress: list[tuple[str, float, float]]) -> Any:
        if key not in self._open:
            preset, device = key
            self._open[key] = self._workbench.open(
                preset, device=device, progress=lambda stage, done, total: progress.append((stage, done, total))
            )
        return self._open[key]


def stream(loader: Loader, request: RunRequest, run: Run) -> Iterator[dict[str, Any]]:
    """Payloads of one run. Never raises on bad input: the last payload then has mode "error" and says the cure."""
    run.stage = "running"
    try:
        yield from _stream(loader, request, run)
    except (ValueError, OSError, RuntimeError, ImportError, MemoryError) as error:
        if isinstance(error, ValueError):  # what a visitor typed
            log.info("run %s was refused: %s", run.name, error)
        else:
            log.exception("run %s failed", run.name)
        # A run that failed half-way keeps what it has: a trace without a footer is an interrupted one.
        run.state = status("error", _message(error), detail="The run shown before is still here.")
        yield payload(run.name, 0, run.records, True, run.state)
    finally:
        run.stage = "done"


def _stream(loader: Loader, request: RunRequest, run: Run) -> Iterator[dict[str, Any]]:
    if run.stopped.is_set():
        run.state = status("idle", "stopped before it began")
        yield payload(run.name, 0, [], True, run.state)
        return
    notes = "; ".join(request.notes)
    progress: list[tuple[str, float, float]] = []
    future = loader.opening(request.preset, request.device, progress)
    size = loader.size(request.preset)
    began = time.monotonic()
    while not future.done():
        if run.stopped.is_set():
            run.state = status("idle", "stopped before it began", detail="Loading goes on for the next run.")
            yield payload(run.name, 0, [], True, run.state)
            return
        run.state = _loading(progress, time.monotonic() - began, size)
        yield payload(run.name, 0, [], False, run.state)
        time.sleep(0.25)
    workbench = future.result()
    wire = Wire()
    run.records = wire.records
    run.state = status("live", "generating", detail=notes)
    sent, last, levels = 0, 0.0, 0
    footer: Footer | None = None
    events = request.start(workbench, stop=run.stopped.is_set)
    with closing(events):
        try:
            for event in events:
                run.events.append(event)
                wire.feed(event)
                urgent = isinstance(event, Header)
                levels = len(event.levels) if isinstance(event, Header) else levels
                if isinstance(event, Footer):
                    footer = event
                if isinstance(event, (Footer, Baseline)):
                    urgent = True
                    after = _after(request, levels, event)
                    run.state = status("live", after[0], detail=notes, phase=after[1]) if after else run.state
                now = time.monotonic()
                if urgent or now - last >= PERIOD_S:
                    yield payload(run.name, sent, wire.records[sent:], False, run.state)
                    sent, last = len(wire.records), time.monotonic()
        finally:
            # Before the engine is closed: an engine at work on the baseline looks at this, not at its consumer.
            run.stopped.set()
    run.state = status("live", _ending(footer, run.events), detail=notes, phase="done")
    yield payload(run.name, 0, wire.records, True, run.state)


def _after(request: RunRequest, levels: int, event: Footer | Baseline) -> tuple[str, str] | None:
    """What the engine does after this event, in words, and the name of that phase."""
    if isinstance(event, Footer):
        if event.reason == "stopped":
            return None
        if request.baseline and levels > 1:
            return MEASURING, "plain"
    return (READING, "depths") if request.depths else None


def _ending(footer: Footer | None, events: list[Event]) -> str:
    if footer is None:
        return "interrupted"
    beside = ", plain decoding measured beside it" if any(isinstance(e, Baseline) for e in events[-2:]) else ""
    return f"{ENDINGS.get(footer.reason, footer.reason)}{beside}"


def _loading(progress: list[tuple[str, float, float]], waited: float, size: str) -> dict[str, Any]:
    stage, done, total = progress[-1] if progress else ("load", 0.0, 0.0)
    share = min(1.0, done / total) if total else None
    if share == 1.0:  # that stage is over; what follows has no figure
        stage, share = "load", None
    said = LOADING.get(stage, stage) + (f", {size}" if size and stage == "download" else "")
    return status("loading", said, detail=MEANWHILE, stage=stage, share=share, waited=round(waited, 1))


def _message(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__
