"""Rotary positions: the angles of a `LeanShape`, as its config scales them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from hsd_core.models.lean.shape import LeanShape


def rotary_tables(shape: LeanShape) -> tuple[Tensor, Tensor]:
    """cos and signed sin of every position's angles, (max_positions, head_size) float32.

    With halves (a, b) of a head, the rotation is (a cos - b sin, b cos + a sin); the second table holds
    (-sin, sin), to be multiplied with the swapped halves (b, a).
    """
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
    """Llama 3.1's rule: long wavelengths are stretched by `factor`, short ones kept, blended between."""
    factor, low, high = (float(rope[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
    turns = rope["original_max_position_embeddings"] * base / (2 * math.pi)  # full turns within the old context
    blend = ((turns - low) / (high - low)).clamp(0, 1)  # 0: stretched, 1: kept
    stretched: Tensor = base * (blend + (1 - blend) / factor)
    return stretched
