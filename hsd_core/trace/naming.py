"""How a trace's rounds are named wherever a person reads of them."""

from __future__ import annotations


def round_number(round_: int) -> int:
    """Counted from 1; a trace counts its rounds from 0."""
    return round_ + 1
