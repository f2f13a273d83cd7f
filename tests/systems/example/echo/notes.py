"""What an echo says of its drafts."""

from __future__ import annotations

from collections.abc import Mapping

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Echoed(Note, frozen=True):
    """From how many tokens back the draft was repeated."""

    back: Int

    def figures(self) -> Mapping[str, float]:
        return {"echoed": 1}


NOTES = (Echoed,)
