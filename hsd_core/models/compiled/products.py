"""Products of a graph, x W^T + b, by the dtype of the weight.

    float32   MatMul: onnxruntime packs the weight for its kernel once, and frees the given one
    int8      MatMulNBits over groups of inputs, each with a scale; inputs are rounded to 8 bits by row and group
    rows      products of 8-bit integers, with a scale for each output and each row of inputs
    int4      as int8 over groups of 32, with equal steps from a group's least to its largest weight, as in
    `linear.Int4`

Inputs are rounded row by row, so rows stay independent of each other.

A row of inputs with one scale would leave all channels few steps beside a large one, so both sides are turned by an
orthogonal matrix first, in groups of 64 (as QuaRot does, arXiv 2404.00456): the product stays the same, and large
channels are spread. For SmolLM2 "rows" rounds as well as "int8" with groups of 64: argmaxes agree with float32's at
97.9 and 97.2 % of 1,587 tokens. Without VNNI eight rows take two thirds as long, one row 1.1 to 1.2 times (processor
time of a pass on an AMD EPYC with AVX2).

A group in 4 bits needs an offset that is not a whole number of steps (GGUF's Q4_1 is d q + m): the kernel gets the
nearest whole number, and the rest, times the means of the groups, is added as a few more inputs of the same product, in
4 bits too. Without it SmolLM2's argmaxes agree at 81 % of tokens, with it at 98 %.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import gcd, pi

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.compiled import GROUP
from hsd_core.models.compiled.graph import MICROSOFT, Graph, Product, dense
from hsd_core.models.compiled.session import Session
from hsd_core.models.lean.int4_groups import int4_steps, refuse_sizes
from hsd_core.models.threads import torch_with

INT8_INPUTS = 4  # accuracy_level of MatMulNBits: inputs are rounded to 8 bits, products are of integers
HALF = 8  # of the codes in 4 bits
TINY = 1e-10  # the least scale
ZERO, LARGEST = 128, 127  # in unsigned 8 bits, the code of 0 and the steps on both sides of it
TURNED = 64  # inputs that are turned together, in products by rows
PIECE = 2**20  # weights that are rounded at once, to reuse memory


def product(weight: Tensor, kind: str, bias: Tensor | None = None, *, group: int = GROUP) -> Product:
    """A product with weight (N, K), stored as `kind`: "float32", "int8", "rows" or "int4".

    Args:
        group: inputs that share a scale, in 8 bits.

    Raises:
        DecoderError: in 4 bits K must be a multiple of the group.
    """
    if kind == "float32":
        made: Product = partial(_float32, weight)
    elif kind == "int8":
        codes, scales = _by_rows(partial(_int8_rows, group), weight)
        made = rounded(codes, scales, weight.shape[1])
    elif kind == "rows":
        turn = _turn(weight.shape[1])
        codes, scales = _by_rows(partial(_turned_rows, turn), weight)
        made = partial(_integers, codes[:, 0].T, scales[:, 0], turn)
    else:
        refuse_sizes("int4", weight, inputs=GROUP, outputs=1, instead="int8")
        made = partial(_int4, weight)
    return made if bias is None else partial(_biased, made, dense(bias))


def rounded(codes: Tensor, scales: Tensor, inputs: int) -> Product:
    """A product with rounded weights: uint8 (N, groups, group), float32 (N, groups)."""
    return partial(_nbits, 8, codes, scales, None, inputs)


def of_rows(weight: Tensor, scale: Tensor) -> Product:
    """A product with int8 (N, K) weights and one scale per row, (N,), without further rounding."""
    codes = F.pad((weight.to("cpu").int() + ZERO).to(torch.uint8), (0, -weight.shape[1] % GROUP), value=ZERO)
    codes = codes.view(len(weight), -1, GROUP)
    return rounded(codes, dense(scale)[:, None].expand(codes.shape[:2]), weight.shape[1])


def _float32(weight: Tensor, graph: Graph, name: str, x: str) -> str:
    return graph.op("MatMul", [x, graph.weight(name, torch.empty(weight.T.shape).copy_(weight.T))])


def _biased(made: Product, bias: Tensor, graph: Graph, name: str, x: str) -> str:
    return graph.op("Add", [made(graph, name, x), graph.weight(f"{name}.bias", bias)])


def _nbits(
    bits: int, codes: Tensor, scales: Tensor, zeros: Tensor | None, inputs: int, graph: Graph, name: str, x: str
) -> str:
    parts = [x, graph.weight(name, codes), graph.weight(f"{name}.scales", scales)]
    if zeros is not None:
        parts.append(graph.weight(f"{name}.zeros", zeros))
    return graph.op(
        "MatMulNBits",
        parts,
        domain=MICROSOFT,
        K=inputs,
        N=len(codes),
        bits=bits,
        block_size=codes.shape[-1] * 8 // bits,
        accuracy_level=INT8_INPUTS,
    )


def _turn(inputs: int) -> Tensor:
    """An orthogonal matrix (g, g), the cosine transform, for groups of g of so many inputs."""
    size = gcd(inputs, TURNED)
    i = torch.arange(size, dtype=torch.float64)
    turn: Tensor = torch.cos(pi / size * (i[:, None] + 0.5) * i) * (2 / size) ** 0.5
    turn[:, 0] /= 2**0.5
    return turn.float()


def _turned_rows(turn: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return _int8_rows(weight.shape[1], (weight.view(len(weight), -1, len(turn)) @ turn).view(weight.shape))


def _integers(codes: Tensor, scales: Tensor, turn: Tensor, graph: Graph, name: str, x: str) -> str:
    # Both are unsigned: sums of unsigned times signed numbers may saturate, see `saturates`.
    step, zero = graph.scalar("step", 1 / LARGEST), graph.scalar("zero", ZERO, torch.uint8)
    rounded, most = graph.rounded_by_row(x, len(codes), turn, step, zero)
    parts = [rounded, graph.weight(name, codes), step, graph.weight(f"{name}.scales", scales), zero, zero]
    return graph.op("Mul", [graph.op("MatMulIntegerToFloat", parts, domain=MICROSOFT), most])


def smoothed_kind() -> str:
    """The kind of products of smoothed 8-bit weights: "int8", or "rows" where that is quicker."""
    return "rows" if saturates() else "int8"


@cache
def saturates() -> bool:
    """Whether a sum of two products of 8-bit integers saturates at 16 bits on this processor: x86 without VNNI."""
    graph = Graph()
    x, one = graph.input("x", "float32", [1, "n", 2]), graph.scalar("one", 1.0)
    rounded = graph.op("QuantizeLinear", [x, one, graph.scalar("none", 0, torch.uint8)])
    parts = [rounded, graph.weight("weight", torch.full((2, 1), LARGEST, dtype=torch.int8)), one, one]
    graph.put("MatMulIntegerToFloat", parts, [graph.output("y", [1, "n", 1])], domain=MICROSOFT)
    bound, sums = Session(graph, 1).bound(), torch.zeros(1, 2, 1)
    bound.input("x", torch.full((1, 2, 2), 255.0))
    bound.output("y", sums)
    bound()
    return bool((sums < 2 * 255 * LARGEST).any())


def _by_rows(made: Callable[[Tensor], tuple[Tensor, ...]], weight: Tensor) -> list[Tensor]:
    """The results of `made` for a weight (N, K), computed for some rows in float32 at a time."""
    torch_with(1)  # for steps this short, synchronising threads takes longer than one thread
    pieces = torch.split(weight, max(1, PIECE // weight.shape[1]))
    return [torch.cat(parts) for parts in zip(*(made(dense(rows)) for rows in pieces), strict=True)]


def _int8_rows(group: int, weight: Tensor) -> tuple[Tensor, Tensor]:
    groups = F.pad(weight, (0, -weight.shape[1] % group)).view(len(weight), -1, group)
    scales = (groups.abs().amax(-1) / LARGEST).clamp_min(1e-10)
    codes = (groups / scales[..., None]).round_().clamp_(-LARGEST, LARGEST) + ZERO
    return codes.to(torch.uint8), scales


def _int4(weight: Tensor, graph: Graph, name: str, x: str) -> str:
    codes, steps, zeros = _by_rows(_int4_rows, weight)
    groups = weight.shape[1] // GROUP
    taken = graph.with_group_means(x, GROUP, _digits(groups)[1])
    return _nbits(4, codes, steps, zeros, weight.shape[1] + _digits(groups)[1] * groups, graph, name, taken)


def _digits(groups: int) -> tuple[int, int]:
    """The offset of the second digits after the first, a whole number of groups, as each group has its scale; and how
    often the means are repeated, so that all of them are also after that offset."""
    begins = -(-groups // GROUP) * GROUP
    return begins, -(-begins // groups) + 1


def _int4_rows(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Codes, steps and whole offsets of weights (N, K), followed by those of the factors of the groups' means, in two
    digits."""
    low, step, codes = int4_steps(weight.view(len(weight), -1, GROUP))
    zeros = (-low / step).round_().clamp_(0, 2 * HALF - 1)
    left = GROUP * (low + step * zeros)  # the weights are step (code - zero) + left / GROUP
    groups = left.shape[1]
    begins, times = _digits(groups)
    more = torch.zeros(len(weight), -(-times * groups // GROUP), GROUP)
    line = more.view(len(weight), -1)
    line[:, :groups] = left
    first, unit = _digit(more)
    second = torch.arange(begins, begins + groups)
    line.zero_()
    line[:, second] = (left - (first * unit).view(len(weight), -1)[:, :groups])[:, second % groups]
    rest, fine = _digit(more)
    digits, units = first + rest, torch.where(fine > TINY, fine, unit)
    return (
        _pairs(torch.cat((codes, digits + HALF), 1).to(torch.uint8)),
        torch.cat((step, units[..., 0]), 1),
        _pairs(F.pad(zeros, (0, digits.shape[1]), value=HALF).to(torch.uint8)),
    )


def _digit(groups: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers (N, groups, g) as integers from -HALF + 1 to HALF - 1, times a unit (N, groups, 1)."""
    unit = (groups.abs().amax(-1, keepdim=True) / (HALF - 1)).clamp_min_(TINY)
    return (groups / unit).round_(), unit


def _pairs(codes: Tensor) -> Tensor:
    """4-bit codes, two per byte, the first in the lower half."""
    codes = F.pad(codes, (0, codes.shape[-1] % 2))
    return codes[..., 0::2] | (codes[..., 1::2] << 4)
