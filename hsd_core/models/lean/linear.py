"""Linear layers for inference: one class per way of keeping the weight.

On two AVX2 cores, 100 layers of 576 -> 1536 take, in ms for 1 / 2 / 4 / 8 / 16 rows (tests/measuring/kernel_times.py):
    F.linear, float32      37 / 60 / 56 / 54 / 59     (a different kernel from the second row on)
    oneDNN prepacked       21 / 23 / 26 / 35 / 44     <- `Packed`
    int8 weight-only       13 / 15 / 20 / 37 / 59     <- `Int8`
    int4 weight-only       10 / 15 / 19 / 34 / 62     <- `Int4`
`Packed` and `Int4` keep the weight only in their kernel's layout. All memory for kernels goes through `aligned`: some
kernels load whole vectors, and crash the process if the address or the width does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.gpu.precision import Wide
from hsd_core.models.gpu.tiled_int4 import TiledInt4
from hsd_core.models.lean.int4_groups import GROUP, in_groups, refuse_sizes

ALIGNMENT = 64  # bytes: torch's own alignment, and the widest load of a CPU
INT4_OUTPUTS = 16  # outputs of a tile of the kernel
# The kernel loads 16 inputs at a time, with AVX-512 from aligned addresses only, and on Arm the scales of 4 outputs.
INT8_INPUTS, INT8_OUTPUTS = 16, 4
PACK_ROWS = 8  # the number of rows that oneDNN packs the weight for; others give the same product


def aligned(tensor: Tensor) -> Tensor:
    """`tensor`, contiguous and at a multiple of `ALIGNMENT`, as kernels of the CPU need; a copy if it is not.

    Tensors of a safetensors file are mapped from the file, at any address.
    """
    tensor = tensor.contiguous()
    if tensor.device.type != "cpu" or tensor.data_ptr() % ALIGNMENT == 0:
        return tensor
    return tensor.clone()


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
        self.weight = torch.ops.mkldnn._reorder_linear_weight(aligned(weight), PACK_ROWS)
        self.bias = None if bias is None else aligned(bias)

    def __call__(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(aligned(x), self.weight, self.bias, "none", [], "")
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

    Raises:
        DecoderError: the weight's sizes are not multiples of what the kernel takes.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self._keep(*quantise(weight))
        self.bias = None if bias is None else aligned(bias.float())

    @classmethod
    def of(cls, weight: Tensor, scale: Tensor) -> Int8:
        """Over quantised weights: int8 (N, K) and bfloat16 (N,)."""
        made = cls.__new__(cls)
        made._keep(weight, scale)
        made.bias = None
        return made

    @staticmethod
    def takes(weight: Tensor) -> bool:
        """Whether the kernel takes a weight (N, K) of these sizes."""
        return weight.shape[0] % INT8_OUTPUTS == 0 and weight.shape[1] % INT8_INPUTS == 0

    def _keep(self, weight: Tensor, scale: Tensor) -> None:
        refuse_sizes("int8", weight, inputs=INT8_INPUTS, outputs=INT8_OUTPUTS, instead="float32 or bfloat16")
        self.weight, self.scale = aligned(weight), aligned(scale)

    def __call__(self, x: Tensor) -> Tensor:
        y = torch._weight_int8pack_mm(aligned(x.bfloat16()), self.weight, self.scale).to(x.dtype)
        return y if self.bias is None else y + self.bias

    def dense(self) -> Tensor:
        """The weight (N, K) in float32, rounded as it is kept; a copy."""
        return self.weight.float() * self.scale.float()[:, None]


class Int4:
    """x W^T + b with W kept as 4 bits in groups of inputs, each with a scale and an offset; products of bfloat16
    activations.

    The weights of a group are on equal steps from its least to its largest (`int4_steps`). So weights from a file with
    such steps (GGUF's Q4_1 and Q4_K) are exact except for offsets and scales, which are rounded to bfloat16. No row of
    the result depends on another row of x, bit for bit. Takes and returns x's dtype.

    Raises:
        DecoderError: the weight's sizes are not multiples of what the kernel takes.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        refuse_sizes("int4", weight, inputs=GROUP, outputs=INT4_OUTPUTS, instead="int8")
        codes, steps = in_groups(weight)
        self.weight = aligned(torch.ops.aten._convert_weight_to_int4pack_for_cpu(aligned(codes.int()), 1))
        self.steps = aligned(steps)
        self.bias = None if bias is None else aligned(bias.float())

    def __call__(self, x: Tensor) -> Tensor:
        y = self._product(x.bfloat16()).to(x.dtype)
        return y if self.bias is None else y + self.bias

    def _product(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(aligned(x), self.weight, GROUP, self.steps)
        return y

    def dense(self) -> Tensor:
        """The weight (N, K) in float32, as the kernel reads it, rounded to bfloat16; a copy."""
        inputs = self.steps.shape[0] * GROUP
        return self._product(torch.eye(inputs, dtype=torch.bfloat16)).T.float().contiguous()


Linear: TypeAlias = Plain | Packed | Int8 | Int4 | TiledInt4


class Head:
    """Logits (n, V) in float32. On the CPU the weight is float32 too: in oneDNN's layout it costs about as much as int8
    from 8 rows on. On a GPU it has the layers' precision, see `Wide`."""

    def __init__(self, weight: Tensor, layers: torch.dtype) -> None:
        here = weight.device.type == "cpu"
        whole = Wide if not here else Packed if Packed.available() else Plain
        self._reads = torch.float32 if here else layers
        self._product = whole(weight.to(self._reads))

    def __call__(self, x: Tensor) -> Tensor:
        return self._product(x.to(self._reads))

    def dense(self) -> Tensor:
        """The weight (V, hidden)."""
        return self._product.dense()

    @property
    def nbytes(self) -> int:
        """Bytes of its weight."""
        return nbytes(self._product)


def nbytes(linear: Linear | Wide) -> int:
    """Bytes of a layer's weight, scales and bias."""
    # a tensor of oneDNN has no nbytes
    return sum(t.numel() * t.element_size() for t in vars(linear).values() if isinstance(t, Tensor))


COPIES: Mapping[str, type[Int8 | Int4]] = MappingProxyType({"int8": Int8, "int4": Int4})


def copies(device: str) -> Mapping[str, type[Int8 | Int4 | TiledInt4]]:
    """The linear layers of copies on a device, by dtype."""
    return COPIES if torch.device(device).type == "cpu" else {"int4": TiledInt4}


def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Symmetric int8 with one bfloat16 scale per row: weight (N, K) ~ q (N, K) * scale (N,).

    The scale is rounded to bfloat16 before the division, so that its rounding adds no error.
    """
    weight = weight.float()
    # 126 steps, not 127: a scale that is rounded down must not push the largest weight over 127
    scale = (weight.abs().amax(1) / 126).clamp_min(1e-8).bfloat16()
    q = torch.round(weight / scale.float()[:, None]).clamp_(-127, 127).to(torch.int8)
    return q.contiguous(), scale.contiguous()
