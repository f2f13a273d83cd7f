"""What all work for the engine has in common: it is opened, tells how far that is, and ends in words whatever happens.

The engine works in such a generator itself, so whatever closes the generator (Stop, a closed page, an error) closes
the engine; inside a step it asks `run.over` before every forward. Only loading weights happens beside it, in a thread,
so that its progress can be told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, Literal, Protocol, TypeVar

from app.kit.faults import in_words
from app.kit.payload import status
from app.serve.line.known_runs import Run
from app.serve.line.run_lengths import RunKind
from app.serve.loader import LOOK_S, Loader, Request, Shared
from app.serve.settings import LONGEST_S, RunRequest, TimeLeft
from app.words import run as says
from hsd_core.core.events import Baseline, Footer, Header, Report, Verify
from hsd_core.export.run_page import RecordStream
from hsd_core.pipeline import Reading

PLAIN = "plain"  # the phase in which plain decoding of the same target is measured
PERIOD_S = 0.15  # the page draws each payload: text that comes in smaller parts is no easier to read
Payload = dict[str, Any]
NOT_YET: Payload = {}  # what a run yields that waits for its next event in a batch; sent to nobody
log = logging.getLogger(__name__)


class EngineWork(Request, Protocol):
    """What a visitor has the engine do: a run, a race or a measurement, by the name of its run."""

    @property
    def run(self) -> str: ...
    @property
    def kind(self) -> RunKind: ...


W = TypeVar("W", bound=EngineWork)
Write = Callable[[Loader, W, Run], Generator[Payload, None, None]]  # payloads of a run of such work, the last one final


def fetched(loader: Loader, request: Request, run: Run) -> Generator[Payload, None, None]:
    """Have the weights on the disk that a run needs, telling how far that is; see `Engine.fetch`."""
    try:
        for source in loader.absent(request):
            with loader.fetching(source) as fetching:
                yield from _until(fetching.done, fetching, run)
                if run.over():
                    return
                fetching.done.result()
    except Exception as error:
        run.state = status("error", _told(error, run), detail=says.STILL_HERE)


def answered(tell: Callable[[Loader, W, Run], Iterator[Payload]]) -> Write[W]:
    """The payloads that `tell` writes of a run, and never an error: what it raises becomes a last payload of mode
    "error", which says the cure. Then the run is over."""

    @wraps(tell)
    def told(loader: Loader, request: W, run: Run) -> Generator[Payload, None, None]:
        run.stage = "running"
        try:
            yield from tell(loader, request, run)
        except Exception as error:
            said = _told(error, run)
            # A run that failed half-way keeps what it has: a trace without a footer is an interrupted one.
            run.state = status("error", said, detail=says.STILL_HERE)
            yield run.wrote(final=True)
        finally:
            run.done()

    return told


def begin(
    loader: Loader, request: Request, run: Run, reading: Reading | None = None
) -> Generator[Payload, None, Generator[Any, None, None] | None]:
    """Open the preset and build the levels, telling how far that is; None when the run ended before, which is said."""
    if not run.over():
        started = yield from _begun(loader, request, run, reading)
        if started is not None:
            return started
    run.state = status("idle", says.STOPPED_EARLY, detail=says.LOADING_ENDS)
    yield run.said(final=True)
    return None


def _begun(
    loader: Loader, request: Request, run: Run, reading: Reading | None
) -> Generator[Payload, None, Generator[Any, None, None] | None]:
    with loader.awaited(request.preset, request.device) as opening:
        yield from _until(opening.done, opening, run)
        if run.over():
            return None
        opening.done.result()
        starting = loader.starting(request, opening, run.over, reading)
        yield from _until(starting, opening, run)
    return starting.result() if starting.done() else None


def _until(coming: Future[Any], work: Shared[Any], run: Run) -> Iterator[Payload]:
    """How far some work is, until it is done or the run is over."""
    began = last = time.monotonic()
    while not run.over() and not wait([coming], LOOK_S).done:
        now = time.monotonic()
        if coming is work.done:  # not while levels are built: every run takes that
            run.loading += now - last
        last, run.state = now, _loading(work, now - began)
        yield run.said()


def _told(error: Exception, run: Run) -> str:
    """What a visitor is told of an error; the log has the whole of it."""
    said = in_words(error)
    if isinstance(error, ValueError) and said == str(error).strip():  # what a visitor typed
        log.info("run %s was refused: %s", run.name, error)
    else:
        log.exception("run %s failed", run.name)
    return said


def _loading(work: Shared[Any], waited: float) -> dict[str, Any]:
    stage, done, total = work.said
    share = min(1.0, done / total) if total else None
    if share == 1.0:  # that stage is over; what follows has no figure
        stage, share = "load", None
    said = says.LOADING.get(stage, stage) + (says.of_bytes(done, total) if share and stage in says.FETCHING else "")
    return status("loading", said, detail=says.MEANWHILE, stage=stage, share=share, waited=round(waited, 1))


# ---- what an engine is to the page, wherever it works


@dataclass(frozen=True, slots=True)
class Job(Generic[W]):
    """A kind of work.

    Attributes:
        name: by which another process knows it.
        request: the type of what is asked for, of plain values, so that it can cross to another process.
        write: the payloads of a run of it, the last one final; it works in the engine's thread.
        joins: whether its passes may be joined with those of other runs. The events of such a run are None where there
            is none yet, for which it yields `NOT_YET`.
    """

    name: str
    request: type[W]
    write: Callable[[Loader, W, Run], Generator[Payload, None, None]]
    joins: bool = False


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """How an engine is. state: "down" is one that is not started again before long; memory: bytes of its process, 0
    where that is not known; model: the preset that it opened last, "" for none."""

    state: Literal["ok", "starting", "restarting", "down"] = "ok"
    pid: int = 0
    restarts: int = 0
    memory: int = 0
    model: str = ""


class Engine(Protocol):
    """Works for runs, and fetches weights beside them. Its coroutines belong to the server's event loop."""

    @property
    def health(self) -> EngineHealth: ...

    @property
    def here(self) -> bool:
        """Whether it runs on this machine, whose profiles the page plans with."""
        ...

    @property
    def places(self) -> int:
        """How many runs it works on at a time."""
        ...

    def group(self, job: Job[W], request: W) -> Hashable | None:
        """Runs of equal groups may be worked on at a time; None for one that is worked on alone. Instant."""
        ...

    def start(self) -> None:
        """Be ready before the first run asks; returns at once."""
        ...

    def lacks(self, request: EngineWork) -> bool:
        """Whether weights that it needs are not on the disk yet. Instant."""
        ...

    def fetch(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        """Have the weights on the disk that a run needs, telling how far that is. Where that cannot be, the run's state
        has mode "error" in the end; where the run is stopped before, fetching ends unless others wait for the same."""
        ...

    def work(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        """Payloads of a run, whose turn has come; the last one is final, and the run is done then, whatever happened.
        Closing it ends the run."""
        ...

    def close(self, grace: float) -> None:
        """End, within so many seconds."""
        ...


# ---- a run: the engine's events, sent to the page at 6 payloads a second or so, each once


@answered
def stream(loader: Loader, request: RunRequest, run: Run) -> Iterator[Payload]:
    """Payloads of one run."""
    notes, rest = "; ".join(request.notes), TimeLeft()

    def reading(level: str, done: int, total: int) -> None:
        run.state = base
        if done < total:
            plain = base.get("phase") == PLAIN
            said = says.reading(level, done, total, rest.after(level, done, total), plain=plain)
            run.state = status("live", said, detail=notes, phase=PLAIN if plain else "prompt", share=done / total)

    events = yield from begin(loader, request, run, reading)
    if events is None:
        return
    wire = RecordStream()
    run.live = wire.records
    run.state = base = status("live", says.GENERATING, detail=notes)
    last, levels = 0.0, 0
    footer: Footer | None = None
    measured = read = shared = False
    with closing(events):
        try:
            for event in events:
                if event is None:
                    yield NOT_YET
                    continue
                wire.feed(event)
                urgent = isinstance(event, Header)
                shared = shared or (isinstance(event, Verify) and len(_runs_in(event)) > 1)
                levels = len(event.levels) if isinstance(event, Header) else levels
                if isinstance(event, Footer):
                    footer = event
                read = read or (isinstance(event, Report) and "depths" in event.notes)
                if isinstance(event, (Footer, Baseline)):
                    urgent, measured = True, isinstance(event, Baseline)
                    after = _after(request, levels, event)
                    run.state = base = status("live", after[0], detail=notes, phase=after[1]) if after else base
                now = time.monotonic()
                if urgent or now - last >= PERIOD_S:
                    yield run.wrote()
                    last = time.monotonic()
            early = not run.stopped.is_set() and _early(request, levels, footer, measured, read)
        finally:
            # Before the engine is closed: an engine at work on the baseline looks at this, not at its consumer.
            run.stopped.set()
    ended = early or _ending(footer, measured, shared)
    run.state = status("live", ended, detail=notes, phase="done", **({"early": ended} if early else {}))
    yield run.wrote(final=True)


RUN = Job("run", RunRequest, stream, joins=True)


def _after(request: RunRequest, levels: int, event: Footer | Baseline) -> tuple[str, str] | None:
    """What the engine does after this event, in words, and the name of that phase."""
    if isinstance(event, Footer):
        if event.reason == "stopped":
            return None
        if request.baseline and levels > 1:
            return says.MEASURING, PLAIN
    return (says.READING, "depths") if request.depths else None


def _early(request: RunRequest, levels: int, footer: Footer | None, measured: bool, read: bool) -> str:
    """What is said of a run that nobody stopped and that took as long as one may; "" where it did not."""
    if footer is None:
        return ""
    cut = footer.reason == "stopped"
    lacks = (request.baseline and levels > 1 and not measured) or (request.depths and footer.committed and not read)
    return says.ended_early(LONGEST_S, done=not cut) if cut or lacks else ""


def _ending(footer: Footer | None, measured: bool, shared: bool) -> str:
    if footer is None:
        return says.INTERRUPTED
    return says.ended(footer.reason, measured, shared)


def _runs_in(event: Verify) -> tuple[int, ...]:
    """The runs of a batch whose rows were computed in the same passes."""
    note = event.notes.get("batch")
    return note.runs if note else ()
