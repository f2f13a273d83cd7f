"""The one reader of numbers: whatever a text or a stranger's JSON calls a figure is bounded here."""

from __future__ import annotations

import math
from typing import Any

LEAST, MOST = 1e-9, 1e15  # of a count or a time that is not zero
LONGEST = 32  # characters of a written number: more digits are no figure that an engine prints
MOST_POSITIONS = 256  # of a draft


def number(value: Any) -> float | None:
    """A figure from 0 to `MOST`; None for everything else: text, NaN, signs, more digits than anything counts."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        if len(value) > LONGEST:
            return None
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int) and not 0 <= value <= MOST:
        return None  # before it becomes a float, which a long integer does not
    read = float(value)
    return read if math.isfinite(read) and (read == 0 or LEAST <= read <= MOST) else None


def share(value: float | None, *, percent: bool = False) -> float | None:
    """A part of a whole from 0 to 1, written as such or in percent."""
    if value is None:
        return None
    part = value / 100 if percent or value > 1.0 + 1e-9 else value
    return part if part <= 1.0 + 1e-9 else None


def length_of(value: float | None) -> int | None:
    """A draft length in tokens; None for what is none."""
    return int(value) if value is not None and value == int(value) and 1 <= value <= MOST_POSITIONS else None


def written(text: str) -> int | float:
    """A number of a JSON text: infinite where it has more digits than any figure."""
    if len(text) > LONGEST:
        return math.inf
    return float(text) if set(text) & set(".eE") else int(text)
