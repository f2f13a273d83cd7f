"""The number formats that a GPU computes in; its logits stay float32."""

from __future__ import annotations

import torch
from torch import Tensor

from hsd_core.models.decoder_protocol import QUANTISED

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
FAST_BFLOAT16 = (8, 0)  # the first compute capability with bfloat16 products; older GPUs emulate them


def computes_in(dtype: str, device: str) -> torch.dtype:
    """The format that layers compute in, from that of their weights: for copies bfloat16 on a GPU, float32 on a CPU."""
    if dtype in QUANTISED and torch.device(device).type != "cpu":
        return torch.bfloat16
    return HALVES.get(dtype, torch.float32)


def quick(dtype: str, device: str) -> str:
    """`dtype`, or float16 for bfloat16 on a GPU that has no units for it (before Ampere: T4, V100, RTX 20)."""
    old = dtype == "bfloat16" and device.startswith("cuda") and torch.cuda.get_device_capability(device) < FAST_BFLOAT16
    return "float16" if old else dtype


class Wide:
    """x W^T in float32 over a weight in fewer bits, on a GPU.

    The GPU sums in float32; logits in bfloat16 would be rounded to steps of 0.125 at 16, with many ties. x and the
    weight are read in the weight's dtype, so a head costs half as much as in float32.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    def __call__(self, x: Tensor) -> Tensor:
        if self.weight.dtype == torch.float32:
            return x @ self.weight.t()
        return torch.mm(x, self.weight.t(), out_dtype=torch.float32)

    def dense(self) -> Tensor:
        """The weight (N, K), as it was given."""
        return self.weight
