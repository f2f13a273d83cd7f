"""What a drafted token repeats, as whoever drafted it says."""

from __future__ import annotations

from msgspec import Struct

from hsd_core.typed import Int


class Copied(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The token at `at`, behind `alike` tokens that are the same in both places, as far as they were compared. `share`:
    how much of the drafted token's raw probability is the copy's; 1 for a lookup.

    `at` is a position in the context; in a trace it is one in the output (negative: in the prompt, -1 its last token).
    """

    at: Int
    alike: Int
    share: float
