"""Adds to a run's events what a reader without a tokenizer needs: the bytes of every id, at its first use."""

from __future__ import annotations

import base64
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Protocol

from hsd_core import trace
from hsd_core.trace import Event


class Pieces(Protocol):
    """What the recorder asks of a tokenizer."""

    def piece(self, id_: int) -> bytes: ...

    def is_special(self, id_: int) -> bool: ...


def record(events: Generator[Event, None, None], pieces: Pieces) -> Generator[Event, None, None]:
    """The same events, each preceded by a `Piece` for every id that appears for the first time (after the header).

    Closing it closes `events`.
    """
    known: set[int] = set()
    with closing(events):
        for event in events:
            fresh = [i for i in dict.fromkeys(chain.from_iterable(_ids(event))) if i not in known]
            known.update(fresh)
            found = [trace.Piece(i, base64.b64encode(pieces.piece(i)).decode(), pieces.is_special(i)) for i in fresh]
            if isinstance(event, trace.Header):
                yield event
                yield from found
            else:
                yield from found
                yield event


def _ids(event: Event) -> Iterator[Iterable[int]]:
    """The ids of an event, in parts."""
    if isinstance(event, trace.Header):
        yield event.prompt_ids
    elif isinstance(event, trace.Draft):
        yield event.ids
    elif isinstance(event, (trace.Correct, trace.Bonus)):
        yield (event.id,)
        if event.p_row is not None:
            yield event.p_row.ids
    elif isinstance(event, trace.Verify):
        for check in event.checks:
            yield from [row.ids for row in (check.p_row, check.q_row, check.residual) if row is not None]
    elif isinstance(event, trace.Baseline):
        yield event.ids
    elif isinstance(event, trace.Store):
        yield from event.window or ()
    elif isinstance(event, trace.Depths):
        yield from event.top
