"""What all readers of a trace say alike: how rounds are named, whose clock it is, on which lane a level works."""

from __future__ import annotations

from msgspec import UNSET

from hsd_core.core.events.whole import Header


def round_number(round_: int) -> int:
    """Counted from 1; a trace counts its rounds from 0."""
    return round_ + 1


def lanes_of(header: Header) -> tuple[int, ...]:
    """On which lane each level works, counted from the bottom; all on one where levels work one after another."""
    levels, apart = header.levels, header.overlap != "none"
    return tuple(level.lane or 0 if level.lane is not UNSET else int(apart and level is levels[-1]) for level in levels)


def clock_of(header: Header) -> str:
    """What `Header.overlap` says, or that no model ran; "" where levels work one after another, as was measured."""
    if header.simulated:
        return "simulated"
    return "" if header.overlap == "none" else header.overlap
