"""The note of a verification that read its draft twice."""

from __future__ import annotations

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Reread(Note, frozen=True):
    """rows: inputs of the second reading. nodes: the drafted tokens that were read twice, by index. first, second: the
    probability of each under either reading, at temperature 1."""

    rows: Int
    nodes: tuple[Int, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]


NOTES = (Reread,)
