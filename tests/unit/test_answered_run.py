"""What a program is told of a run: each record once, however the parts of it come."""

from __future__ import annotations

from typing import Any

from small_trace import small_run

from app.programs.answered_run import Written
from hsd_core.core.events import Piece
from hsd_core.trace.codec import to_dict

PIECES = [Piece(id_, "YQ==") for id_ in range(10)]  # "a", whatever the id
RECORDS: list[dict[str, Any]] = [to_dict(event) for event in (*small_run()[:1], *PIECES, *small_run()[1:])]


def test_parts_that_overlap_give_a_text_once() -> None:
    whole, apart = Written(), Written()
    whole.feed(0, RECORDS)
    for start, end in ((0, 15), (9, 21), (21, 22), (0, len(RECORDS))):
        apart.feed(start, RECORDS[start:end])
    assert whole.text == apart.text == "a" * 6
    assert apart.answer("", done=True, trace=True) == whole.answer("", done=True, trace=True)
    assert apart.trace == RECORDS
