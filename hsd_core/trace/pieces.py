"""Adds the bytes of every id at its first use to a run's events, for readers without a tokenizer."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import chain
from typing import Any, Protocol

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.core.notes import Note


class Pieces(Protocol):
    """The part of a tokenizer that the recorder uses."""

    def piece(self, id_: int) -> bytes: ...

    def is_special(self, id_: int) -> bool: ...


def record(events: Generator[Event, None, None], pieces: Pieces) -> Generator[Event, None, None]:
    """The same events, each preceded by a `Piece` for every id that appears for the first time (after the header).

    Closing it closes `events`.
    """
    known: set[int] = set()
    with closing(events):
        for event in events:
            fresh = []
            for i in chain.from_iterable(_ids(event)):
                if i not in known:
                    known.add(i)
                    b64 = b2a_base64(pieces.piece(i), newline=False).decode()
                    fresh.append(trace.Piece(i, b64, pieces.is_special(i)))
            if isinstance(event, trace.Header):
                yield event
                yield from fresh
            else:
                yield from fresh
                yield event


def _ids(event: Event) -> Iterable[Iterable[int]]:
    """The ids that an event and its notes name, in parts."""
    own, notes = _OWN.get(type(event), _none)(event), getattr(event, "notes", None)
    if not notes:
        return own
    return chain(own, *(note.ids() for note in notes.values() if isinstance(note, Note)))


def _none(event: Any) -> Iterable[Iterable[int]]:
    return ()


def _drawn(event: trace.Correct | trace.Bonus) -> Iterable[Iterable[int]]:
    return ((event.id,),) if event.p_row is None else ((event.id,), event.p_row.ids)


def _judged(event: trace.Verify) -> Iterable[Iterable[int]]:
    return [row.ids for x in event.checks for row in (x.p_row, x.q_row, x.residual) if row is not None]


# The ids of an event's own fields, in parts, by its class: a fast lookup, as it runs between passes.
_OWN: dict[type[Event], Callable[[Any], Iterable[Iterable[int]]]] = {
    trace.Header: lambda event: (event.prompt_ids,),
    trace.Draft: lambda event: (event.ids,),
    trace.Correct: _drawn,
    trace.Bonus: _drawn,
    trace.Verify: _judged,
    trace.Baseline: lambda event: (event.ids,),
}
