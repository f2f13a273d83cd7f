"""What a visitor reads first ends and does not repeat itself; where a text goes in circles the page is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hsd_core.core.events import Commit, Footer
from hsd_core.export.run_page import page_records
from hsd_core.trace import file as tracefile
from hsd_core.trace.conventions import loop_from

ASSETS = Path(__file__).resolve().parents[2] / "assets"
OPENING = ASSETS / "opening" / json.loads((ASSETS / "opening" / "opening.json").read_text())["recording"]
FIRST = min((ASSETS / "traces").glob("*.jsonl.gz"))  # what the page opens with
RUN = 4  # tokens in a row
SAID_TWICE = 0.1  # of the places of a text: words such as "the input string" come again in any


@pytest.mark.parametrize("path", [OPENING, FIRST], ids=lambda path: path.stem)
def test_the_opening_and_the_first_recording_end_and_do_not_repeat_themselves(path: Path) -> None:
    events = tracefile.read(path)
    ids = [token.id for event in events if isinstance(event, Commit) for token in event.tokens]
    assert next(event for event in events if isinstance(event, Footer)).reason == "eos"
    assert loop_from(ids) is None
    runs = [tuple(ids[i : i + RUN]) for i in range(len(ids) - RUN + 1)]
    assert 1 - len(set(runs)) / len(runs) < SAID_TWICE


def test_a_text_in_circles_is_told_from_where_they_begin_on() -> None:
    told = [
        one["repeats_from"]
        for one in page_records(tracefile.read(ASSETS / "traces" / "18-auto.jsonl.gz"))
        if one["event"] == "snapshot"
    ]
    assert told[0] is None and told[-1] is not None
    begun = next(i for i, one in enumerate(told) if one is not None)
    assert set(told[begun:]) == {told[-1]}, "it is told once"
    first = [one["repeats_from"] for one in page_records(tracefile.read(FIRST)) if one["event"] == "snapshot"]
    assert set(first) == {None}
