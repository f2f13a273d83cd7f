"""The recorder tells every id's bytes once, before the event that needs them."""

from __future__ import annotations

import base64
from collections.abc import Generator, Iterable

from hsd_core.core.events import (
    FORMAT,
    SCHEMA,
    Bonus,
    Check,
    Draft,
    Drafted,
    Event,
    Header,
    Piece,
    Report,
    Row,
    Verify,
    Work,
)
from hsd_core.core.notes import Note, noted
from hsd_core.trace.pieces import record


class Named(Note, frozen=True):
    named: tuple[int, ...]

    def ids(self) -> Iterable[Iterable[int]]:
        return (self.named,)


class Letters:
    def piece(self, id_: int) -> bytes:
        return bytes([97 + id_])

    def is_special(self, id_: int) -> bool:
        return id_ == 9


def run() -> Generator[Event, None, None]:
    yield from EVENTS


ROWS = (Row((2, 4), (0.5, 0.5), 0.0), Row((5,), (1.0,), 0.0), Row((6,), (1.0,), 0.0))
CHECK = Check(0, 2, 1.0, None, "accepted", 1.0, 1.0, *ROWS)
EVENTS: list[Event] = [
    Header(FORMAT, SCHEMA, "table,table", (), {}, 0, (0, 1, 0), 4, True, ""),
    Draft(0, 0, 0, (Drafted(0, 2, "t", 1.0),), Work(1, 1), 0, 1, noted(Named((3, 2)))),
    Verify(0, 1, 0, 0, Work(1, 2), (CHECK,), 1, 2, notes=noted(Named((10, 11)))),
    Bonus(0, 1, 1, 1, 9, 1.0, 3, Row((9, 7), (0.9, 0.1), 0.0)),
    Report(1, None, None, noted(Named((8,)))),
]


def test_each_id_is_told_once_and_before_it_is_needed():
    told = list(record(run(), Letters()))
    assert [e.event if not isinstance(e, Piece) else e.id for e in told] == [
        "header",
        0,
        1,
        2,
        3,
        "draft",
        4,
        5,
        6,
        10,
        11,
        "verify",
        9,
        7,
        "bonus",
        8,
        "report",
    ]


def test_pieces_carry_the_bytes_and_mark_special_ids():
    pieces = {e.id: e for e in record(run(), Letters()) if isinstance(e, Piece)}
    assert base64.b64decode(pieces[4].b64) == b"e"
    assert [i for i, piece in pieces.items() if piece.special] == [9]


def test_the_events_themselves_pass_unchanged():
    assert [e for e in record(run(), Letters()) if not isinstance(e, Piece)] == EVENTS


def test_closing_the_recorder_closes_the_run():
    closed = []

    def endless() -> Generator[Event, None, None]:
        try:
            yield from EVENTS
        finally:
            closed.append(True)

    told = record(endless(), Letters())
    next(told)
    told.close()
    assert closed == [True]
