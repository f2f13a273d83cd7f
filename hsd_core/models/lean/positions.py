"""Positions in attention: masks, rotary angles, and the window of StreamingLLM (arXiv 2309.17453).

Masks are cached: a pass of few inputs uses a window of an existing mask. Attention gets multiples of KEY_STEP keys and
ROW_STEP query rows (the rest masked, or unused): then the sums of a row have the same order for any number of rows, and
n rows equal n single rows bit for bit, on the CPUs that were measured. Sizes come in buckets then, as recorded graphs
need.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.gpu.transfer import sent
from hsd_core.models.lean.shape import LeanShape

KEY_STEP, ROW_STEP = 64, 8
KEPT_INPUTS = 32  # the longest chain whose mask is kept: 32 inputs of a group of 3 heads, 4096 keys: 3 MB
LEAST_KEYS = 1024


class Masks:
    """Masks of one model: 0 where an input attends, -inf elsewhere. `group`: query heads of one key/value head.
    `window`: the positions that an input attends to, its own among them; 0: all up to its own.

    Every mask is (B or 1, 1, group * n rounded up to ROW_STEP, keys rounded up to KEY_STEP); the rows of the n inputs
    repeat for each head of the group; added rows attend everywhere and are unused. Read-only.
    """

    def __init__(self, group: int, *, dtype: torch.dtype, device: str, window: int = 0) -> None:
        self._group, self._dtype, self._device, self._window = group, dtype, device, window
        self._bands: dict[int, Tensor] = {}  # n -> (1, 1, rows, twice as many keys as were ever needed)

    def causal(self, n: int, end: int) -> Tensor:
        """Of n inputs in a line, the last one in slot end - 1."""
        start, keys = end - n, rounded_up(end, KEY_STEP)
        if n > KEPT_INPUTS:
            return self._padded(self._line(n, keys, start))
        band = self._bands.get(n)
        if band is None or band.shape[-1] < 2 * keys:
            width = max(LEAST_KEYS, 1 << (keys - 1).bit_length())
            # Row i hides columns more than i to the right of the middle: a window that begins `start` left of it
            # is the mask of inputs in slots start, start + 1, ...
            with torch.inference_mode(False):  # training uses it too
                band = self._padded(self._line(n, 2 * width, width))
            self._bands[n] = band  # two runs may compute it at once, with the same result
        left = band.shape[-1] // 2 - start
        return band[..., left : left + keys]

    def _line(self, n: int, keys: int, start: int) -> Tensor:
        mask = self._hidden_all(1, n, keys).triu_(start + 1)
        return mask + self._hidden_all(1, n, keys).tril_(start - self._window) if self._window else mask

    def of(self, hidden: Tensor, at: Tensor, places: Tensor) -> Tensor:
        """(B, n, slots) bool, True where an input must not attend in any window -> their mask.

        at: (B or 1, n) positions of the inputs. places: (slots,) positions of the slots. Both for a window only.
        """
        if self._window:
            hidden = hidden | (places <= at[..., None] - self._window)
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


def rotary_tables(shape: LeanShape, local: float | None = None) -> tuple[Tensor, Tensor]:
    """cos and signed sin of every position's angles, (max_positions, head_size) float32. local: another base, whose
    angles are not scaled.

    With halves (a, b) of a head, the rotation is (a cos - b sin, b cos + a sin); the second table holds
    (-sin, sin), to be multiplied with the swapped halves (b, a).
    """
    shape = replace(shape, rope_theta=local, rope={"rope_type": "default"}) if local else shape
    angles = torch.outer(torch.arange(shape.max_positions).float(), _frequencies(shape))
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)


def _frequencies(shape: LeanShape) -> Tensor:
    """(head_size / 2,) angles per position: theta^(-2j/d), scaled by the rope type."""
    d, kind = shape.head_size, shape.rope["rope_type"]
    base = 1.0 / shape.rope_theta ** (torch.arange(0, d, 2).float() / d)
    if kind == "linear":
        return base / float(shape.rope["factor"])
    return _llama3(base, shape.rope) if kind == "llama3" else base


def _llama3(base: Tensor, rope: dict[str, Any]) -> Tensor:
    """Llama 3.1's rule: long wavelengths are stretched by `factor`, short ones kept, those between blended."""
    factor, low, high = (float(rope[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
    turns = rope["original_max_position_embeddings"] * base / (2 * math.pi)  # full turns within the old context
    blend = ((turns - low) / (high - low)).clamp(0, 1)  # 0: stretched, 1: kept
    stretched: Tensor = base * (blend + (1 - blend) / factor)
    return stretched


SINK = 4  # first positions that are seen from everywhere


def window_mask(of: Tensor, place: Tensor, window: int) -> Tensor:
    """(n, m) bool: whether the position numbered of[i] attends to the one numbered place[j], of its own line."""
    near = (place <= of[:, None]) & (place > of[:, None] - (window - SINK))
    return near | ((place < SINK) & (place <= of[:, None]))
