"""A race here and now: it stands in the line like any run, says how far each lane is, and sends the whole race last."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from app.generate import PERIOD_S, answered, begin
from app.loader import Loader
from app.payload import payload, status
from app.race.request import LONGEST_S, RaceRequest
from app.race.shown import shown
from app.runs import Run
from app.words import race as says
from hsd_core.measure import race


def stream(loader: Loader, request: RaceRequest, run: Run) -> Generator[dict[str, Any], None, None]:
    """Payloads of a race. Never raises on bad input: the last payload then has mode "error" and says the cure."""
    yield from answered(run, _stream(loader, request, run))


def _stream(loader: Loader, request: RaceRequest, run: Run) -> Iterator[dict[str, Any]]:
    parts = yield from begin(loader, request, run)
    if parts is None:
        return
    tokens, repeat, sent = [0] * len(request.lanes), 0, 0.0
    run.state = _progress(request, 0, tokens)
    yield payload(run.name, 0, [], False, run.state)
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
                yield payload(run.name, 0, [], False, run.state)
                sent = time.monotonic()
    if found is None:
        run.state = _nothing(request, stopped=run.stopped.is_set())
        yield payload(run.name, 0, [], True, run.state)
        return
    done = len(found.race.repeats)
    early = LONGEST_S if done < request.repeats else None
    run.live = [shown(found)]
    run.state = status("live", says.raced(done, early), phase="done")
    yield payload(run.name, 0, run.live, True, run.state)
    # Gradio keeps the last value of every session: let that be a small one.
    yield payload(run.name, 1, [], True, run.state)


def _progress(request: RaceRequest, repeat: int, tokens: list[int]) -> dict[str, Any]:
    said = says.progress(repeat, request.repeats)
    notes = "; ".join(request.lanes[0].notes)
    return status("live", said, phase="racing", tokens=list(tokens), repeat=repeat, of=request.repeats, detail=notes)


def _nothing(request: RaceRequest, *, stopped: bool) -> dict[str, Any]:
    if stopped:
        return status("idle", says.STOPPED)
    return status(
        "error",
        says.nothing_finished(LONGEST_S, request.preset, " ".join(lane.stack for lane in request.lanes)),
    )
