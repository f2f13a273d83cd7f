"""Linear layers for inference: one class per way of keeping the weight.

On AVX2 cores, 100 layers of 576 -> 1536 take, in ms for 1 / 2 / 4 / 8 / 16 rows:
    F.linear, float32      24 / 45 / 47 / 45 / 50     (a different kernel from the second row on)
    MKL prepacked          18 / 30 / 42 / 48 / 58
    oneDNN prepacked       15 / 17 / 20 / 26 / 34     <- `Packed`
    int8 weight-only        9 / 10 / 13 / 28 / 48     <- `Int8`
Both packed forms hold the weight once, in their own layout.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

PACK_ROWS = 8  # the row count that oneDNN lays the weight out for; other counts give the same product


class Plain:
    """x W^T + b in the weight's dtype, on any device."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight, self.bias = weight, bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def dense(self) -> Tensor:
        """The weight (N, K), as it was given."""
        return self.weight


class Packed:
    """x W^T + b in float32 on the CPU, with the weight in oneDNN's blocked layout."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), PACK_ROWS)
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return y

    def dense(self) -> Tensor:
        """The weight (N, K), as it was given; a copy."""
        dense: Tensor = self.weight.to_dense()
        return dense

    @staticmethod
    def available() -> bool:
        """Whether this build of torch has the kernel and agrees with F.linear on a small product."""
        if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
            return False
        try:
            weight, x = torch.arange(12.0).view(3, 4), torch.ones(2, 4)
            return bool(torch.equal(Packed(weight)(x), F.linear(x, weight)))
        except (AttributeError, RuntimeError, NotImplementedError):
            return False


class Int8:
    """x W^T + b with W kept as int8 and one scale per output channel; products of bfloat16 activations.

    No row of the result depends on another row of x, bit for bit: the activations are not quantised.
    Takes and returns x's dtype.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight, self.scale = quantise(weight)
        self.bias = None if bias is None else bias.float()

    @classmethod
    def of(cls, weight: Tensor, scale: Tensor) -> Int8:
        """Over weights that are quantised already: int8 (N, K) and bfloat16 (N,)."""
        made = cls.__new__(cls)
        made.weight, made.scale, made.bias = weight.contiguous(), scale.contiguous(), None
        return made

    def __call__(self, x: Tensor) -> Tensor:
        y = torch._weight_int8pack_mm(x.bfloat16(), self.weight, self.scale).to(x.dtype)
        return y if self.bias is None else y + self.bias

    def dense(self) -> Tensor:
        """The weight (N, K) in float32, rounded as it is kept; a copy."""
        return self.weight.float() * self.scale.float()[:, None]


Linear: TypeAlias = Plain | Packed | Int8


def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Symmetric int8 with one bfloat16 scale per row: weight (N, K) ~ q (N, K) * scale (N,).

    The scale is rounded to bfloat16 before the division, so that its rounding is no error of the product.
    """
    weight = weight.float()
    # 126 steps, not 127: rounding the scale down may then not push the largest weight over 127
    scale = (weight.abs().amax(1) / 126).clamp_min(1e-8).bfloat16()
    q = torch.round(weight / scale.float()[:, None]).clamp_(-127, 127).to(torch.int8)
    return q.contiguous(), scale.contiguous()
