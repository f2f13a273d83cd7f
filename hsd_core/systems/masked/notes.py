"""The note of a masked draft: in which pass each cell was filled, and what else it might have held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from hsd_core.core.events import Draft, Event, Header
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Lattice(Note, frozen=True):
    """For each token of a draft the pass that filled its cell, from 0. columns: where a path was searched, the
    candidates of every cell, (id, probability), the likeliest first, also of cells behind an end of the text."""

    per_token: ClassVar[tuple[str, ...]] = ("passes",)
    passes: tuple[Int, ...]
    columns: tuple[tuple[tuple[Int, float], ...], ...] = ()

    def ids(self) -> Iterable[Iterable[int]]:
        return ((id_ for id_, _ in column) for column in self.columns)


def check_lattices(events: Sequence[Event], header: Header) -> Iterable[str]:
    """Every cell was filled by one of the draft's passes, and a searched path leads through its lattice."""
    for i, event in enumerate(events):
        note = Lattice.of(event) if isinstance(event, Draft) else None
        if not isinstance(event, Draft) or note is None:
            continue
        if note.passes and not 0 <= min(note.passes) <= max(note.passes) < event.work.forwards:
            yield f"event {i} (draft): cells filled by passes {note.passes} of {event.work.forwards}"
        for token, column in zip(event.tokens, note.columns, strict=False):
            if token.id not in {id_ for id_, _ in column}:
                yield f"event {i} (draft): token {token.id} is none of its cell's candidates"


NOTES = (Lattice,)
CHECKS = (check_lattices,)
