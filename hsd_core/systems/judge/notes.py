"""The note of a verification with a judge."""

from __future__ import annotations

from hsd_core.core.notes import Note


class Opinions(Note, frozen=True):
    """For each drafted token whose state was computed, how likely the judge finds it good, 0 to 1."""

    good: tuple[float, ...]


NOTES = (Opinions,)
