"""The note of n-gram databases on a commit."""

from __future__ import annotations

from collections.abc import Iterable

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Filed(Note, frozen=True):
    """What was added to D_c since the last report: `inserts` continuations, of which `evictions` replaced older ones.

    `window`: the n-grams of a lookahead window in the order in which they were added, column by column; they come from
    the verifier's passes and do not follow from the text."""

    inserts: Int
    evictions: Int
    window: tuple[tuple[Int, ...], ...] = ()

    def ids(self) -> Iterable[Iterable[int]]:
        return self.window


NOTES = (Filed,)
