"""How a trace's rounds are named wherever a person reads of them, and whose clock its times are of."""

from __future__ import annotations

from hsd_core.trace.events.whole import Header


def round_number(round_: int) -> int:
    """Counted from 1; a trace counts its rounds from 0."""
    return round_ + 1


def clock_of(header: Header) -> str:
    """What `Header.overlap` says, or that no model ran; "" where levels work one after another, as was measured."""
    if header.simulated:
        return "simulated"
    return "" if header.overlap == "none" else header.overlap
