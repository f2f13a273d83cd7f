"""Rows that stay on a device: what the host reads of them is made there, and waited for with what a rule needs.

A row of 128,000 logits is half a megabyte; a greedy rule needs one number of it, and a trace the likeliest few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

SHORTLIST = 8  # tokens of a row


class Ranked(NamedTuple):
    """What the host knows of n rows of logits.

    heads: of each row the likeliest tokens at temperature 1 with their chances, falling, `SHORTLIST` at most. sound:
    whether all of them are finite, as `sampling.finite` says it.
    """

    heads: Sequence[list[tuple[int, float]]]
    sound: bool

    @classmethod
    def of(cls, chances: Tensor, ids: Tensor, peaks: Tensor) -> Ranked:
        """From what `ranking` made, fetched."""
        pairs = zip(ids.tolist(), chances.tolist(), strict=True)
        heads = [[(i, x) for i, x in zip(*row, strict=True) if x > 0.0] for row in pairs]
        return cls(heads, math.isfinite(float(peaks)))

    def cut(self, rows: int) -> Ranked:
        """Of the first rows alone."""
        return self._replace(heads=self.heads[:rows])


def ranking(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(n, V) float32 logits -> (n, k) chances and (n, k) ids of the likeliest, and the () sum of all peaks."""
    chances, ids = logits.softmax(-1).topk(min(SHORTLIST, logits.shape[-1]))
    return chances, ids, logits.amax(-1).sum()
