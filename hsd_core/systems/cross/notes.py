"""What a drafter with a vocabulary of its own says of a draft."""

from __future__ import annotations

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Ruler(Note, frozen=True):
    """How many bytes each of its own tokens has, from the text's end on; together at least as many as the tokens that
    went up."""

    bytes: tuple[Int, ...]


NOTES = (Ruler,)
