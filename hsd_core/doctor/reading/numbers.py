"""The one reader of numbers: whatever a text or a stranger's JSON calls a figure is bounded here."""

from __future__ import annotations

import math
from typing import Any

LEAST, MOST = 1e-9, 1e15  # of a count or a time that is not zero
LONGEST = 32  # characters of a written number: more digits are no figure that an engine prints
MOST_POSITIONS = 256  # of a draft


def number(value: Any) -> float | None:
    """A figure from 0 to `MOST`; None for everything else: text, NaN, signs, more digits than anything counts."""
    if isinstance(value, str):
        try:
            read = float(value) if len(value) <= LONGEST else MOST + 1
        except ValueError:
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    else:
        read = float(value) if value <= MOST else MOST + 1  # a long integer becomes no float
    return read if read == 0 or LEAST <= read <= MOST else None


def length_of(value: float | None) -> int | None:
    """A draft length in tokens; None for what is none."""
    return int(value) if value is not None and value == int(value) and 1 <= value <= MOST_POSITIONS else None


def written(text: str) -> int | float:
    """A number of a JSON text: infinite where it has more digits than any figure."""
    if len(text) > LONGEST:
        return math.inf
    return float(text) if set(text) & set(".eE") else int(text)
