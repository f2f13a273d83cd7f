"""A race as the page's script takes it: one record, with a row and the events of each lane."""

from __future__ import annotations

from typing import Any

from hsd_core.core.events import Baseline, Event, Header
from hsd_core.export.run_page import page_records
from hsd_core.measure import race
from hsd_core.measure.bench import plain_of
from hsd_core.trace.comparison import baseline_of
from hsd_core.typed import builtins

RACE = "race"  # the name of that record, which is not an event of a run


def shown(raced: race.Raced, name: str = "") -> dict[str, Any]:
    """
    Args:
        name: of a race that is bundled, by which an address asks for it.
    """
    header = raced.lanes[0][0]
    assert isinstance(header, Header)
    return {
        "event": RACE,
        "name": name,
        "race": builtins(raced.race),
        "preset": header.preset,
        "seed": header.seed,
        "sampling": header.sampling,
        "max_new_tokens": header.max_new_tokens,
        "lanes": [
            {**row, "records": [one for one in page_records(lane) if one["event"] != "gauge"]}
            for row, lane in zip(race.rows(raced), _with_plain(raced), strict=True)
        ],
    }


def _with_plain(raced: race.Raced) -> list[list[Event]]:
    """The lanes; where the first one is plain decoding of another's target, it is what that one is measured by."""
    plain, *others = raced.lanes
    stacks = raced.race.stacks
    found = [plain]
    for stack, lane in zip(stacks[1:], others, strict=True):
        known = any(isinstance(event, Baseline) for event in lane)
        baseline = baseline_of(lane, plain) if stacks[0] == plain_of(stack) and not known else None
        found.append([*lane, baseline] if baseline else lane)
    return found
