"""Weights in 4 bits on a GPU, with torch's kernel (`_weight_int4pack_mm`, tinygemm) and its tiled layout.

torchao's int4 uses the same kernel, but each of its wheels needs one version of torch, so it is not a requirement. Its
int8 without compilation unpacks all weights for every product; torch's int8 kernel reads them again for every row. Both
read more bytes than the target in half precision, so copies in 8 bits run on the CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hsd_core.models.decoder_protocol import QUANTISED
from hsd_core.models.gpu.precision import FAST_BFLOAT16
from hsd_core.models.lean.int4_groups import GROUP, in_groups, refuse_sizes

INPUTS = 16  # of a tile
SIDE_BY_SIDE = (8, 4, 2)  # tiles that a lane loads at once; the most that divide a layer's inputs are used
OUTPUTS = 8


def no_copy(dtype: str, device: str) -> str:
    """Why a device has no kernel for weights of this dtype; "" if it has one."""
    if dtype not in QUANTISED or not device.startswith("cuda"):
        return ""
    if dtype != "int4":
        return f"{dtype} is a CPU kernel and the device is {device}; write @device=cpu, or int4"
    least = ".".join(map(str, FAST_BFLOAT16))
    if torch.cuda.get_device_capability(device) < FAST_BFLOAT16:
        return f"int4 needs a GPU of compute capability {least} and {device} is an older one; write @device=cpu"
    return ""


def copy_device(dtype: str, device: str) -> str:
    """The device for a copy of a model that is on `device`."""
    return "cpu" if no_copy(dtype, device) else device


class TiledInt4:
    """x W^T + b with W kept as 4 bits in groups of inputs, see `Int4`; products of bfloat16 activations.

    Takes and returns x's dtype.

    Raises:
        DecoderError: the weight's sizes are not multiples of what the kernel takes.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        refuse_sizes("int4", weight, inputs=GROUP, outputs=OUTPUTS, instead="bfloat16")
        codes, self.steps = in_groups(weight)
        tiles = next(count for count in SIDE_BY_SIDE if weight.shape[1] % (INPUTS * count) == 0)
        pairs = codes[:, ::2] << 4 | codes[:, 1::2]
        self.weight = torch.ops.aten._convert_weight_to_int4pack(pairs.contiguous(), tiles)
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        y = self._product(x.bfloat16().contiguous()).to(x.dtype)
        return y if self.bias is None else y + self.bias

    def _product(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.aten._weight_int4pack_mm(x, self.weight, GROUP, self.steps)
        return y

    def dense(self) -> Tensor:
        """The weight (N, K) in float32, as the kernel reads it, rounded to bfloat16; a copy."""
        inputs = self.steps.shape[0] * GROUP
        return self._product(torch.eye(inputs, dtype=torch.bfloat16, device=self.steps.device)).T.float().contiguous()
