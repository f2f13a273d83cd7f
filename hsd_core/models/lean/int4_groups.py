"""Weights as 4-bit codes in groups of inputs, for all kernels."""

from __future__ import annotations

import torch
from torch import Tensor

from hsd_core.models.decoder_protocol import DecoderError

STEPS = 15, 14  # levels of a group, minus one
GROUP = 32  # inputs


def in_groups(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A weight (N, K) as codes (N, K) uint8 and steps (K / GROUP, N, 2) bfloat16, (code - 8) * scale + offset."""
    outputs, inputs = weight.shape
    low, step, codes = int4_steps(weight.float().view(outputs, inputs // GROUP, GROUP))
    scale = step.bfloat16()
    offset = (low + 8 * scale.float()).bfloat16()
    return codes.to(torch.uint8).view(outputs, inputs), torch.stack((scale, offset), -1).transpose(0, 1).contiguous()


def refuse_sizes(dtype: str, weight: Tensor, *, inputs: int, outputs: int, instead: str) -> None:
    """Raises DecoderError for a weight (N, K) where K is not a multiple of `inputs`, or N none of `outputs`."""
    n, k = weight.shape
    if k % inputs or n % outputs:
        raise DecoderError(
            f"{dtype} takes inputs by {inputs} and outputs by {outputs}, and a layer has {k} inputs and {n} outputs; "
            f"use {instead}"
        )


def int4_steps(groups: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weights in groups (..., g) as 4-bit codes: low (...), step (...) and codes (..., g), low + step * code.

    A group's range is divided into 15 steps, or 14 if that is closer: a fifth of the groups of GGUF's Q4_K do not use
    the first or last of their 16 levels, and would be between the steps.
    """
    low, high = groups.amin(-1), groups.amax(-1)
    found = []
    for count in STEPS:
        step = ((high - low) / count).clamp_min(1e-10)
        codes = ((groups - low[..., None]) / step[..., None]).round_().clamp_(0, count)
        off = (codes * step[..., None]).add_(low[..., None]).sub_(groups).square_().sum(-1)
        found.append((off, step, codes))
    (off, step, codes), (other_off, other_step, other_codes) = found
    nearer = other_off < off
    return low, torch.where(nearer, other_step, step), torch.where(nearer[..., None], other_codes, codes)
