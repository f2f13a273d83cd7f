"""A live run: the engine's events, sent to the page at 6 payloads a second or so, each once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

from app.kit.payload import status
from app.serve.engine import PERIOD_S, Job, Payload, answered, begin
from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.settings import LONGEST_S, RunRequest, TimeLeft
from app.words import run as says
from hsd_core.core.events import Baseline, Footer, Header, Report
from hsd_core.export.run_page import RecordStream

PLAIN = "plain"  # the phase in which plain decoding of the same target is measured


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
    measured = read = False
    with closing(events):
        try:
            for event in events:
                wire.feed(event)
                urgent = isinstance(event, Header)
                levels = len(event.levels) if isinstance(event, Header) else levels
                if isinstance(event, Footer):
                    footer = event
                read = read or (isinstance(event, Report) and event.t1 is None)
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
    ended = early or _ending(footer, measured)
    run.state = status("live", ended, detail=notes, phase="done", **({"early": ended} if early else {}))
    yield run.wrote(final=True)


RUN = Job("run", RunRequest, stream)


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


def _ending(footer: Footer | None, measured: bool) -> str:
    if footer is None:
        return says.INTERRUPTED
    return says.ended(footer.reason, measured)
