"""A race here and now: it stands in the line like any run, says how far each lane is, and sends the whole race last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from app.kit.payload import status
from app.serve.engine import PERIOD_S, Job, Payload, answered, begin
from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.settings import LONGEST_S
from app.tabs.race import words as says
from app.tabs.race.race_request import RaceRequest
from app.tabs.race.shown import shown
from app.words import run as run_says
from hsd_core.measure import race
from hsd_core.stacks.targets import preset_option


@answered
def stream(loader: Loader, request: RaceRequest, run: Run) -> Iterator[Payload]:
    """Payloads of a race."""

    def reading(level: str, done: int, total: int) -> None:
        if done < total:
            run.state = {**run.state, "text": run_says.reading(level, done, total)}

    parts = yield from begin(loader, request, run, reading)
    if parts is None:
        return
    tokens, repeat, sent = [0] * len(request.lanes), 0, 0.0
    run.state = _progress(request, 0, tokens)
    yield run.said()
    found: race.Raced | None = None
    with closing(parts):
        for part in parts:
            if isinstance(part, race.Raced):
                found = part
                continue
            if part.repeat != repeat:
                tokens, repeat = [0] * len(request.lanes), part.repeat
            tokens[part.lane] = part.tokens
            if time.monotonic() - sent >= PERIOD_S:
                run.state = _progress(request, repeat, tokens)
                yield run.said()
                sent = time.monotonic()
    if found is None:
        run.state = _nothing(request, stopped=run.stopped.is_set())
        yield run.said(final=True)
        return
    done = len(found.race.repeats)
    early = LONGEST_S if done < request.repeats else None
    run.live = [shown(found)]
    run.state = status("live", says.raced(done, early), phase="done")
    yield run.wrote(final=True)
    # Gradio keeps the last value of every session: let that be a small one.
    yield run.wrote(final=True)


RACE = Job("race", RaceRequest, stream)


def _progress(request: RaceRequest, repeat: int, tokens: list[int]) -> dict[str, Any]:
    said = says.progress(repeat, request.repeats)
    notes = "; ".join(request.lanes[0].notes)
    return status("live", said, phase="racing", tokens=list(tokens), repeat=repeat, of=request.repeats, detail=notes)


def _nothing(request: RaceRequest, *, stopped: bool) -> dict[str, Any]:
    if stopped:
        return status("idle", says.STOPPED)
    return status(
        "error",
        says.nothing_finished(LONGEST_S, preset_option(request.preset), " ".join(lane.stack for lane in request.lanes)),
    )
