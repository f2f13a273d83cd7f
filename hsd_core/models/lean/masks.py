"""Attention masks, kept between passes: a pass of few inputs takes a window of a mask that is there already.

Attention sees whole multiples of KEY_STEP keys and ROW_STEP query rows (the rest masked, or unused): then the sums of a
row run in the same order whatever other rows are computed beside it, and n rows give bit for bit what n single rows
give, on the CPUs we measured. So shapes come in buckets too, as a captured graph needs them.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.gpu.transfer import sent

KEY_STEP, ROW_STEP = 64, 8
KEPT_INPUTS = 32  # the longest chain whose mask is kept: 32 inputs of a group of 3 heads, 4096 keys: 3 MB
LEAST_KEYS = 1024


class Masks:
    """Masks of one model: 0 where an input looks, -inf elsewhere. `group`: query heads of one key/value head.

    Every mask is (B or 1, 1, group * n rounded up to ROW_STEP, keys rounded up to KEY_STEP); the rows of the n inputs
    repeat for each head of the group, those that are added look everywhere and are unused. Not to be written to.
    """

    def __init__(self, group: int, *, dtype: torch.dtype, device: str) -> None:
        self._group, self._dtype, self._device = group, dtype, device
        self._bands: dict[int, Tensor] = {}  # n -> (1, 1, rows, twice as many keys as were ever needed)

    def causal(self, n: int, end: int) -> Tensor:
        """Of n inputs in a line, the last one in slot end - 1."""
        start, keys = end - n, rounded_up(end, KEY_STEP)
        if n > KEPT_INPUTS:
            return self._padded(self._hidden_all(1, n, keys).triu_(start + 1))
        band = self._bands.get(n)
        if band is None or band.shape[-1] < 2 * keys:
            width = max(LEAST_KEYS, 1 << (keys - 1).bit_length())
            # Row i hides what lies more than i columns right of the middle: a window that begins `start` left of it
            # is the mask of inputs in slots start, start + 1, ...
            with torch.inference_mode(False):  # training reads it too
                band = self._padded(self._hidden_all(1, n, 2 * width).triu_(width + 1))
            self._bands[n] = band  # two runs may make it at once; it is the same
        left = band.shape[-1] // 2 - start
        return band[..., left : left + keys]

    def of(self, hidden: Tensor) -> Tensor:
        """(B, n, slots) bool, True where an input must not look -> their mask."""
        texts, n, end = hidden.shape
        mask = self._hidden_all(texts, n, rounded_up(end, KEY_STEP))
        mask[..., :end].masked_fill_(~sent(hidden, self._device), 0.0)
        return self._padded(mask)

    def _hidden_all(self, texts: int, n: int, keys: int) -> Tensor:
        return torch.full((texts, n, keys), float("-inf"), dtype=self._dtype, device=self._device)

    def _padded(self, mask: Tensor) -> Tensor:
        rows = self._group * mask.shape[1]
        return F.pad(mask.repeat(1, self._group, 1), (0, 0, 0, rounded_up(rows, ROW_STEP) - rows))[:, None]


def rounded_up(n: int, step: int) -> int:
    """n rounded up to a multiple of step."""
    return -(-n // step) * step
