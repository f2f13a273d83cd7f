"""Rows that stay on a GPU: what the host reads of them is computed there, and fetched with what a rule needs.

A row of 128,000 logits is half a megabyte; a greedy rule needs one number of it, and a trace the likeliest few tokens.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.sampling import Distributions, Logits, OneHot, Sampling, likeliest, to_probs

SHORTLIST = 8  # tokens of a row


class DeviceLogits(Logits):
    """(n, V) logits on a GPU; the host has each row's likeliest tokens, at most `SHORTLIST`, and whether all logits are
    finite. Made from the fetched results of `ranking`."""

    __slots__ = ("_finite", "_heads")

    def __init__(self, values: Tensor, chances: Tensor, ids: Tensor, peaks: Tensor) -> None:
        super().__init__(values)
        pairs = zip(ids.tolist(), chances.tolist(), strict=True)
        self._heads = [[(i, x) for i, x in zip(*row, strict=True) if x > 0.0] for row in pairs]
        self._finite = math.isfinite(float(peaks))

    def __getitem__(self, rows: slice | list[int]) -> DeviceLogits:
        part = object.__new__(DeviceLogits)
        part.values, part._finite = self.values[rows], self._finite
        part._heads = self._heads[rows] if isinstance(rows, slice) else [self._heads[row] for row in rows]
        return part

    def finite(self, largest: object = None) -> bool:
        return self._finite

    def on_host(self) -> Tensor:
        return fetched(self.values)[0]

    def likeliest(self, k: int) -> list[list[tuple[int, float]]]:
        return [row[:k] for row in self._heads] if k <= SHORTLIST else super().likeliest(k)


def ranking(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(n, V) float32 logits -> (n, k) probabilities and (n, k) ids of the likeliest, and the () sum of all maxima."""
    chances, ids = logits.softmax(-1).topk(min(SHORTLIST, logits.shape[-1]))
    return chances, ids, logits.amax(-1).sum()


def read_on_device(logits: Tensor, sampling: Sampling) -> tuple[Logits, Distributions]:
    """`sampling.read_rows` of logits on a GPU: distributions are computed there and fetched once."""
    rows = logits.float() if logits.element_size() < 4 else logits
    made = likeliest(rows) if sampling.greedy else to_probs(rows, sampling)
    here, *ranked = fetched(made, *ranking(rows))
    dists: Distributions = OneHot(here.tolist(), torch.empty(0, rows.shape[-1])) if sampling.greedy else here
    return DeviceLogits(logits, *ranked), dists


def pick_on_device(row: Tensor, uniform: float) -> Tensor:
    """`sampling.pick` without waiting: a () tensor on the row's device."""
    peak, best = row.max(-1)
    total = row.double().cumsum(-1)
    token = torch.searchsorted(total, total[-1:] * uniform, right=True)[0]
    last = row.shape[-1] - 1 - (row > 0).flip(-1).int().argmax(-1)  # the last token with any mass
    return torch.where(peak >= 1.0, best, torch.minimum(token, last))
