"""What a view of the target's cache reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from hsd_core.core.events import Event, Header, Report
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Held(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Positions lo, ..., hi - 1 of a context (the prompt counted), which so many heads of a view hold."""

    lo: Int
    hi: Int
    heads: Int


class Chosen(Note, frozen=True):
    """What a view holds of the target's cache, from now on: chosen after the prompt was read, and frozen.

    `upto`: the positions that the cache had. `heads`: all of them, in every layer (layers times key heads); each holds
    positions of its own choice. `held`: how many hold which, in order; what none holds is left out. `slots`: the most
    that one holds. Later positions, once the target has verified them, are held by all: they take empty slots first,
    then those of what was chosen last.
    """

    upto: Int
    slots: Int
    heads: Int
    held: tuple[Held, ...]


def check_views(events: Sequence[Event], header: Header) -> Iterable[str]:
    """A view holds positions that there were, each head no more than it has slots for."""
    for i, event in enumerate(events):
        if not isinstance(event, Report) or not (chosen := Chosen.of(event)):
            continue
        where, spans = f"event {i} ({event.event})", chosen.held
        rising = all(a.hi <= b.lo for a, b in pairwise(spans)) and all(0 <= s.lo < s.hi <= chosen.upto for s in spans)
        if not rising or not all(0 < s.heads <= chosen.heads for s in spans):
            yield f"{where}: what it holds is no part of {chosen.upto} positions in {chosen.heads} heads"
        if sum((s.hi - s.lo) * s.heads for s in spans) > chosen.slots * chosen.heads:
            yield f"{where}: it holds more than its {chosen.slots} slots a head"
        if event.level >= len(header.levels) - 1:
            yield f"{where}: level {event.level} has no view of a target above it"


NOTES = (Chosen,)
CHECKS = (check_views,)
