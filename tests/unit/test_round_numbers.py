"""Rounds are counted from 1 wherever a person reads of one; the trace counts them from 0."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import structs

from hsd_core.cli import terminal
from hsd_core.core.events import Commit, Plan
from hsd_core.trace import file
from hsd_core.trace.checks import check

ROOT = Path(__file__).resolve().parents[2]
AUTO = ROOT / "assets/traces/18-auto.jsonl.gz"


def test_the_terminal_names_the_rounds_of_a_plan() -> None:
    events = file.read(AUTO)
    plans = [e for e in events if isinstance(e, Plan)]
    said = [f"from round {e.round + 1}" for e in plans]
    assert said[0] == "from round 1" and len(said) > 1
    lines = [line for line in terminal.totals_lines(events, colour=False) if line.startswith("from round")]
    assert [line.split(":")[0] for line in lines] == said


def test_a_trace_that_does_not_add_up_is_told_with_the_same_numbers() -> None:
    events = file.read(AUTO)
    at = next(i for i, e in enumerate(events) if isinstance(e, Commit) and e.round == 2)
    events[at] = structs.replace(events[at], round=7)
    assert any(re.search(r"round 8 follows round 3\b", wrong) for wrong in check(events))
