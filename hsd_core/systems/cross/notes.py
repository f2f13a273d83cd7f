"""The note of a drafter with another vocabulary on its drafts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hsd_core.core.events import Draft, Event, Header, Piece
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Ruler(Note, frozen=True):
    """The bytes of each of the draft model's tokens, from the end of the text on; in sum at least those of the tokens
    that went up."""

    bytes: tuple[Int, ...]


def check_rulers(events: Sequence[Event], header: Header) -> Iterable[str]:
    """A draft in another vocabulary has at least the text of the tokens that went up."""
    lengths: dict[int, int] = {}
    for i, event in enumerate(events):
        if isinstance(event, Piece):
            lengths[event.id] = len(event.b64) * 3 // 4 - event.b64.count("=")
        elif isinstance(event, Draft) and (own := Ruler.of(event)):
            wrote, up = sum(own.bytes), sum(lengths.get(id_, 0) for id_ in event.ids)
            if min(own.bytes, default=0) < 0 or wrote < up:
                yield f"event {i} (draft): {up} bytes went up of {wrote} that its own tokens {own.bytes} have"


NOTES = (Ruler,)
CHECKS = (check_rulers,)
