"""What n-gram databases report of a commit."""

from __future__ import annotations

from collections.abc import Iterable

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Filed(Note, frozen=True):
    """What D_c filed since the last report: `inserts` continuations, in place of `evictions` older ones.

    `window`: the n-grams that a lookahead window gave, in the order in which they were filed, column by column; they
    come out of the verifier's passes, so no text gives them."""

    inserts: Int
    evictions: Int
    window: tuple[tuple[Int, ...], ...] = ()

    def ids(self) -> Iterable[Iterable[int]]:
        return self.window


NOTES = (Filed,)
