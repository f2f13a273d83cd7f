"""What a pass over a store of a text says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Asked(Note, frozen=True):
    """What a pass asked the store: rows in one query, and how long it took, in ns, as a part of the pass."""

    rows: Int
    ns: Int

    def figures(self) -> Mapping[str, float]:
        return {"asked": 1, "asked_rows": self.rows, "asked_ms": self.ns / 1e6}


NOTES = (Asked,)
