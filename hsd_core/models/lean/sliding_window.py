"""Attention to a few first positions and to the last ones (StreamingLLM, arXiv 2309.17453)."""

from __future__ import annotations

from torch import Tensor

SINK = 4  # first positions that are seen from everywhere


def sees_own(of: Tensor, place: Tensor, window: int) -> Tensor:
    """(n, m) bool: whether the position numbered of[i] attends to the one numbered place[j], of its own line."""
    near = (place <= of[:, None]) & (place > of[:, None] - (window - SINK))
    return near | ((place < SINK) & (place <= of[:, None]))
