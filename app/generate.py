"""A live run: the engine's events, sent to the page at 6 payloads a second or so, the whole trace last.

The engine runs in this generator itself, so whatever closes the generator (Stop, a closed page, an error) closes
the engine; inside a step it asks `run.over` before every forward. Only loading weights happens beside it, in a thread,
so that its progress can be told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from typing import Any

from app.loader import Loader, Opening, Request
from app.payload import payload, status
from app.runs import Run
from app.settings import RunRequest
from app.words import run as says
from hsd_core.export.records import Wire
from hsd_core.trace import Baseline, Footer, Header

PERIOD_S = 0.15  # the page draws each payload: text that comes in smaller parts is no easier to read
log = logging.getLogger(__name__)


def stream(loader: Loader, request: RunRequest, run: Run) -> Generator[dict[str, Any], None, None]:
    """Payloads of one run. Never raises on bad input: the last payload then has mode "error" and says the cure."""
    yield from answered(run, _stream(loader, request, run))


def answered(run: Run, payloads: Iterator[dict[str, Any]]) -> Generator[dict[str, Any], None, None]:
    """The payloads of a run; what they raise becomes a last one that says it. Then the run is over."""
    run.stage = "running"
    try:
        yield from payloads
    except (ValueError, OSError, RuntimeError, ImportError, MemoryError) as error:
        if isinstance(error, ValueError):  # what a visitor typed
            log.info("run %s was refused: %s", run.name, error)
        else:
            log.exception("run %s failed", run.name)
        # A run that failed half-way keeps what it has: a trace without a footer is an interrupted one.
        run.state = status("error", _message(error), detail=says.STILL_HERE)
        yield payload(run.name, 0, run.live, True, run.state)
    finally:
        run.done()


def _stream(loader: Loader, request: RunRequest, run: Run) -> Iterator[dict[str, Any]]:
    notes = "; ".join(request.notes)
    events = yield from begin(loader, request, run)
    if events is None:
        return
    wire = Wire()
    run.live = wire.records
    run.state = status("live", says.GENERATING, detail=notes)
    sent, last, levels = 0, 0.0, 0
    footer: Footer | None = None
    measured = False
    with closing(events):
        try:
            for event in events:
                wire.feed(event)
                urgent = isinstance(event, Header)
                levels = len(event.levels) if isinstance(event, Header) else levels
                if isinstance(event, Footer):
                    footer = event
                if isinstance(event, (Footer, Baseline)):
                    urgent, measured = True, isinstance(event, Baseline)
                    after = _after(request, levels, event)
                    run.state = status("live", after[0], detail=notes, phase=after[1]) if after else run.state
                now = time.monotonic()
                if urgent or now - last >= PERIOD_S:
                    yield payload(run.name, sent, wire.records[sent:], False, run.state)
                    sent, last = len(wire.records), time.monotonic()
        finally:
            # Before the engine is closed: an engine at work on the baseline looks at this, not at its consumer.
            run.stopped.set()
    run.state = status("live", _ending(footer, measured), detail=notes, phase="done")
    yield payload(run.name, 0, wire.records, True, run.state)
    # Gradio keeps the last value of every session: let that be a small one.
    yield payload(run.name, len(wire.records), [], True, run.state)


def begin(
    loader: Loader, request: Request, run: Run
) -> Generator[dict[str, Any], None, Generator[Any, None, None] | None]:
    """Open the preset and build the levels, telling how far that is; None when the run ended before, which is said."""
    if not run.over():
        started = yield from _begun(loader, request, run)
        if started is not None:
            return started
    run.state = status("idle", says.STOPPED_EARLY, detail=says.LOADING_GOES_ON)
    yield payload(run.name, 0, [], True, run.state)
    return None


def _begun(
    loader: Loader, request: Request, run: Run
) -> Generator[dict[str, Any], None, Generator[Any, None, None] | None]:
    opening = loader.opening(request.preset, request.device)
    size, began = loader.size(request.preset), time.monotonic()
    starting = loader.starting(request, opening, run.over)
    while not _ready(starting):
        if run.over():
            return None
        run.state = _loading(opening, time.monotonic() - began, size)
        yield payload(run.name, 0, [], False, run.state)
    return starting.result()


def _ready(future: Future[Any]) -> bool:
    return bool(wait([future], 0.25).done)


def _after(request: RunRequest, levels: int, event: Footer | Baseline) -> tuple[str, str] | None:
    """What the engine does after this event, in words, and the name of that phase."""
    if isinstance(event, Footer):
        if event.reason == "stopped":
            return None
        if request.baseline and levels > 1:
            return says.MEASURING, "plain"
    return (says.READING, "depths") if request.depths else None


def _ending(footer: Footer | None, measured: bool) -> str:
    if footer is None:
        return says.INTERRUPTED
    return says.ended(footer.reason, measured)


def _loading(opening: Opening, waited: float, size: str) -> dict[str, Any]:
    stage, done, total = opening.said
    share = min(1.0, done / total) if total else None
    if share == 1.0:  # that stage is over; what follows has no figure
        stage, share = "load", None
    said = says.LOADING.get(stage, stage) + (f", {size}" if size and stage == "download" else "")
    return status("loading", said, detail=says.MEANWHILE, stage=stage, share=share, waited=round(waited, 1))


def _message(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__
