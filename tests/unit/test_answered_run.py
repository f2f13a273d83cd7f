"""What a program is told of a run: each record once, however the parts of it come."""

from __future__ import annotations

from typing import Any

from small_trace import small_run

from app.programs.runs import Written
from app.serve.line.known_runs import KEEP, OPENED, Run, Runs
from app.words.engine import other_version
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


def test_of_finished_runs_and_of_opened_files_as_many_are_kept_as_is_said() -> None:
    runs = Runs()
    for number in range(KEEP + 3):
        runs.announce(Run(f"run {number}", stage="done"))
    assert [number for number in range(KEEP + 3) if runs.get(f"run {number}")] == list(range(3, KEEP + 3))
    for number in range(OPENED + 2):
        runs.announce(Run(f"file {number}", opened=True))
    assert sum(runs.get(f"file {number}") is not None for number in range(OPENED + 2)) == OPENED


def test_of_two_versions_each_is_called_whose_it_is() -> None:
    assert "the engine speaks version 3 of the protocol and this page version 5" in other_version(3, 5)
