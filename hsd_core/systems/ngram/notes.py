"""What lookups in n-gram databases say of a draft, and the window of lookahead decoding of a verification."""

from __future__ import annotations

from typing import ClassVar

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Lookups(Note, frozen=True):
    """`keys`: for each token how many tokens before it were the key that it was found under (0 for one that a model
    drafted); one lookup in D_c hands out several, the first of them with `Copied.alike` equal to the key. `silent`:
    lookups that every database left unanswered.

    Both are bounded by what is drafted; the entries of D_c are not listed, as they follow from the committed text and
    the level's `params` (`Databases.settings`)."""

    beside: ClassVar[tuple[str, ...]] = ("keys",)
    keys: tuple[Int, ...]
    silent: Int = 0


class Probes(Note, frozen=True):
    """Rows beside those that decide, which decide nothing: they go back to the drafter."""

    rows: Int


NOTES = (Lookups, Probes)
