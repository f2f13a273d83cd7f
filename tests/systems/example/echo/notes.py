"""What an echo says of its drafts."""

from __future__ import annotations

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Echoed(Note, frozen=True):
    """From how many tokens back the draft was repeated."""

    back: Int


NOTES = (Echoed,)
