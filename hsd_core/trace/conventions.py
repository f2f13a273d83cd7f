"""Definitions that all readers of a trace share: how rounds are numbered, the lane of a level, the source of its times,
which level accepted or rejected a token, what a lossy rule spared, where a text begins to repeat itself. The page has
the same in `token.js`, `tokens.js`, `spared.js` and `overlap.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hsd_core.core import events as trace
from hsd_core.core.events import Check, Committed, Event
from hsd_core.core.events.run_events import Header


def round_number(round_: int) -> int:
    """The number of a round for people, from 1; a trace counts from 0."""
    return round_ + 1


def lanes_of(header: Header) -> tuple[int, ...]:
    """The lane of each level, counted from the bottom; all on lane 0 where one level works after another."""
    return tuple(level.lane for level in header.levels)


def clock_of(header: Header) -> str:
    """Where a run's times come from: "simulated" (no model ran), "reckoned" or "real" (levels on several lanes, see
    `Header.reckoned`); "" where they were measured, one level after another."""
    if header.simulated:
        return "simulated"
    return "" if not any(lanes_of(header)) else "reckoned" if header.reckoned else "real"


def accepted_by(token: Committed, top: int) -> int | None:
    """The highest level below the target that accepted a committed token; the target (`top`) if it drew the token
    itself; None if only the target judged it."""
    if token.level == top:
        return top
    return max((level for level in token.passed if level < top), default=None)


def spared(check: Check) -> bool:
    """Whether a lossy rule kept a token that an exact rule, with the same coin, would have rejected. A rule that throws
    no coin is told by a token of probability 0, which is every one but the first choice at temperature 0."""
    against = check.p == 0.0 if check.coin is None else check.coin >= (check.alpha or 0.0)
    return check.outcome == "accepted" and against


class Ghost(NamedTuple):
    """A rejected token: its position in the text, and the level that rejected it."""

    at: int
    serial: int
    id: int
    level: int


def ghosts(events: Sequence[Event]) -> list[Ghost]:
    """The rejected tokens of a run in the order of their rejection, each with its position in the final text; if the
    text was cut before it later, with the position of the cut."""
    found: list[Ghost] = []
    loose = 0  # later ones may still move
    places: dict[int, int] = {}
    alive: set[int] = set()  # positions of tentative tokens
    tree = False
    for event in events:
        if isinstance(event, trace.Draft):
            for serial, parent in zip(event.serials, event.parent_serials, strict=True):
                places[serial] = places.get(parent, event.at - 1) + 1
            tree = event.is_tree
            alive |= set() if tree else {places[serial] for serial in event.serials}
        elif isinstance(event, trace.Verify):
            for check in event.checks:
                if check.outcome != "rejected" or check.serial not in places:
                    continue
                at = places[check.serial]
                if not tree:
                    found[loose:] = [one._replace(at=min(one.at, at)) for one in found[loose:]]
                    alive = {place for place in alive if place < at}
                found.append(Ghost(at, check.serial, check.id, event.level))
            if tree:
                alive |= {places[check.serial] for check in event.checks if check.outcome == "accepted"}
            tree = False
        elif isinstance(event, (trace.Correct, trace.Bonus)):
            places[event.serial] = event.at
            if any(place >= event.at for place in alive):
                found[loose:] = [one._replace(at=min(one.at, event.at)) for one in found[loose:]]
                alive = {place for place in alive if place < event.at}
            alive.add(event.at)
        elif isinstance(event, trace.Commit):
            end = event.at + len(event.tokens)
            alive = {place for place in alive if place >= end}
            while loose < len(found) and found[loose].at < end:
                loose += 1
    return found


LONGEST_PERIOD, FEWEST_TURNS, SHORTEST_LOOP = 48, 3, 12  # tokens, times, tokens


def loop_from(ids: Sequence[int]) -> int | None:
    """The index from which an output only repeats itself, without the first copy of the pattern; None if it does not.

    A loop is a pattern of up to 48 tokens that fills the end of the text at least 3 times and over at least 12 tokens.
    Tokens in a loop would inflate the figures of n-grams and of agreement.
    """
    found: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(ids) // FEWEST_TURNS) + 1):
        start = len(ids) - period
        while start > 0 and ids[start - 1] == ids[start - 1 + period]:
            start -= 1
        long_enough = len(ids) - start >= max(FEWEST_TURNS * period, SHORTEST_LOOP)
        if long_enough and (found is None or start < found[0]):
            found = start, period
    return None if found is None else sum(found)
