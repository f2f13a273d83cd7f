"""Who accepted a token, and who rejected one: what a text is coloured by. The page says the same
(`assets/js/text/token/acceptor.js`, `assets/js/run/tokens.js`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hsd_core.core import events as trace
from hsd_core.core.events import Committed, Event


def accepted_by(token: Committed, top: int) -> int | None:
    """The highest level below the target that accepted a committed token; the target (`top`) where the token is its
    own; None where it came to the target straight from the level that supplied it."""
    if token.level == top:
        return top
    return max((level for level in token.passed if level < top), default=None)


class Ghost(NamedTuple):
    """A rejected token: where it stood in the text, and the level that threw it out."""

    at: int
    serial: int
    id: int
    level: int


def ghosts(events: Sequence[Event]) -> list[Ghost]:
    """The rejected tokens of a run in the order of their rejection, each at its place in the text as it stands at the
    end: where the text was cut before it since, it stands at the cut."""
    found: list[Ghost] = []
    loose = 0  # those from here on may still move
    places: dict[int, int] = {}
    alive: set[int] = set()  # places that tentative tokens stand at
    tree = False
    for event in events:
        if isinstance(event, trace.Draft):
            for serial, parent in zip(event.serials, event.behind, strict=True):
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
