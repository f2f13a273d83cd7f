"""What passes over blanks computed: how many canvases, and how a block was rewritten."""

from __future__ import annotations

from collections.abc import Mapping

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Canvases(Note, frozen=True):
    """Distinct canvases of one pass: several orders of the same fillings are one."""

    count: Int

    def figures(self) -> Mapping[str, float]:
        return {"canvases": self.count}


class Rewritten(Note, frozen=True):
    """The words of a block after each pass over it, from the left."""

    passes: tuple[tuple[str, ...], ...]


NOTES = (Canvases, Rewritten)
