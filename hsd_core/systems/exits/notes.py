"""What a reading of all layers reports of a run's text."""

from __future__ import annotations

from collections.abc import Iterable

from hsd_core.core.events.parts import check_lengths
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Depths(Note, frozen=True):
    """At which layer the model already knew each committed token: one teacher-forced pass over the text.

    Row r reads the hidden states after `at[r]` layers through the read-out named `readouts[r]`: "lens" (the model's
    own last norm and head) or the name of a trained draft. `p[r][t]`: raw probability of committed token t there;
    `top[r][t]`: the most likely id there.
    """

    at: tuple[Int, ...]
    readouts: tuple[str, ...]
    p: tuple[tuple[float, ...], ...]
    top: tuple[tuple[Int, ...], ...]

    def __post_init__(self) -> None:
        check_lengths(self, "at", "readouts", "p", "top")

    def ids(self) -> Iterable[Iterable[int]]:
        return self.top


NOTES = (Depths,)
