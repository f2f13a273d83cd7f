"""The report of a view of the target's cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from hsd_core.core.events import Event, Header, Report
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Held(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Positions lo, ..., hi - 1 of a context (the prompt included), held by this many heads of a view."""

    lo: Int
    hi: Int
    heads: Int


class Chosen(Note, frozen=True):
    """The part of the target's cache that a view holds, chosen once the prompt was read.

    `upto`: the positions in the cache. `heads`: the number of heads (layers times key heads), each with its own choice.
    `held`: the number of heads that hold each position, in order; positions that none holds are left out. `slots`: the
    most positions of a head. Later positions, once the target has verified them, are held by all heads: they take empty
    slots first, then those that were chosen last.
    """

    upto: Int
    slots: Int
    heads: Int
    held: tuple[Held, ...]


def check_views(events: Sequence[Event], header: Header) -> Iterable[str]:
    """A view holds existing positions, and no head more than its slots."""
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
