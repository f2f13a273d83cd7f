"""What the notes of an event say, and its tokens side by side; nothing, or none, where they do not."""

from __future__ import annotations

from typing import Any

from hsd_core.core.events import Draft, Report, Verify
from hsd_core.core.notes import Dropped, Stale, Threshold
from hsd_core.levels.notes import Copied, Copies, Draws, Lookups, Moved
from hsd_core.systems.cross.notes import Ruler
from hsd_core.systems.ngram.notes import Filed
from hsd_core.systems.store.notes import Asked


def stale(event: Draft | Verify) -> bool:
    return Stale.of(event) is not None


def dropped(event: Verify) -> tuple[int, ...]:
    note = Dropped.of(event)
    return note.serials if note else ()


def theta(event: Draft | Verify) -> float | None:
    note = Threshold.of(event)
    return note.theta if note else None


def moved(event: Draft | Verify) -> Moved | None:
    return Moved.of(event)


def asked(event: Verify) -> Any:
    return Asked.of(event)


def keys(event: Draft) -> tuple[int, ...]:
    note = Lookups.of(event)
    return note.keys if note else ()


def silent(event: Draft) -> int:
    note = Lookups.of(event)
    return note.silent if note else 0


def copied(event: Draft) -> tuple[Copied | None, ...]:
    note = Copies.of(event)
    return note.copied if note else (None,) * len(event.tokens)


def draws(event: Draft) -> tuple[int, ...]:
    note = Draws.of(event)
    return note.times if note else ()


def own(event: Draft) -> tuple[int, ...]:
    note = Ruler.of(event)
    return note.bytes if note else ()


def onto(event: Draft) -> set[int]:
    """The tokens of earlier drafts that it goes on behind."""
    return {serial for serial in event.parent_serials if serial >= 0} - {*event.serials}


def confidence(event: Draft) -> tuple[float | None, ...]:
    return tuple(token.confidence for token in event.tokens)


def q(event: Draft) -> tuple[float, ...]:
    return tuple(token.q for token in event.tokens)


def window(event: Report) -> tuple[tuple[int, ...], ...]:
    note = Filed.of(event)
    return note.window if note else ()
