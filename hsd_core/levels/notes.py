"""Notes that levels of several systems write (`core/notes.py`)."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Copied(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a drafted token repeats: the token at `at` of the output (negative: of the prompt, -1 its last one), behind
    `alike` tokens that are the same in both places, as far as they were compared. `share`: how much of its raw
    probability is the copy's; 1 for a lookup."""

    at: Int
    alike: Int
    share: float


class Copies(Note, frozen=True):
    """For each token of a draft what it repeats, None where it was not copied."""

    beside: ClassVar[tuple[str, ...]] = ("copied",)
    copied: tuple[Copied | None, ...]


class Draws(Note, frozen=True):
    """Of siblings drawn with replacement: how often each token of a draft was drawn.

    A draw is an offer of its own: the verifier judges the first one of a token (`Check`), and behind its rejection the
    others are rejected without a coin, each leaving its residual."""

    beside: ClassVar[tuple[str, ...]] = ("times",)
    times: tuple[Int, ...]


NOTES = (Copies, Draws)
