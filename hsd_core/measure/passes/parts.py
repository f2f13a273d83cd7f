"""A pass by its parts, from what kernels report to a profiler: onnxruntime's own, or torch's.

products    of the layers' weights
attention   over the keys and values
head        the product that gives the logits
kernels     all others: norms, the activation, sums, copies
around      what is left of the pass: binding, the embedding, Python
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

PARTS = ("products", "attention", "head", "kernels", "around")
_PRODUCTS = ("MatMul", "mkldnn", "aten::_weight_int", "aten::addmm", "aten::mm")  # what their names begin with
_ATTENTION = ("GroupQueryAttention", "aten::_scaled_dot_product", "aten::bmm", "aten::baddbmm", "aten::_softmax")
_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Kernel:
    """part: one of `PARTS`. products: multiply-adds, where it multiplies weights."""

    part: str
    ns: int
    products: int = 0


def kernel(op: str, ns: int, given: Sequence[int], made: Sequence[int], heads: frozenset[int]) -> Kernel:
    """What a kernel is, by its name and the sizes of its first input and of its output.

    Args:
        heads: how wide logits are: of the model, of a draft's trimmed head.
    """
    if op.startswith(_ATTENTION):
        return Kernel("attention", ns)
    if op.startswith(_PRODUCTS) and given and made:
        return Kernel("head" if made[-1] in heads else "products", ns, prod(made) * given[-1])
    return Kernel("kernels", ns)


def from_torch(events: Iterable[Any], heads: frozenset[int]) -> list[Kernel]:
    """The kernels of one pass under torch's profiler with `record_shapes`; each with its own time, not its callees'."""
    found = []
    for event in events:
        shapes = [tuple(shape) for shape in event.input_shapes or () if shape]
        given = shapes[0] if shapes else ()
        made = (*given[:-1], _outputs(event.key, shapes)) if given else ()
        found.append(kernel(event.key, round(event.self_cpu_time_total * 1e3), given, made, heads))
    return found


def _outputs(op: str, shapes: Sequence[tuple[int, ...]]) -> int:
    """How wide the result of a product is, from the sizes of what it is given."""
    if len(shapes) < 2:
        return 0
    if "int4pack" in op:
        return shapes[-1][1]  # steps and offsets: (groups, outputs, 2)
    if op.startswith(("aten::addmm", "aten::mm")):
        return shapes[-1][-1]  # (inputs, outputs); a bias stands before the two
    return shapes[1][0]


def parted(ms: float, passes: Sequence[Sequence[Kernel]]) -> tuple[dict[str, float], int]:
    """ms of a pass that nobody profiled, by part, and its multiply-adds.

    A part takes its median over the profiled passes. Where the kernels of a profiled pass take longer than a whole one
    without a profile, all are scaled to fit: what stamping them adds is the same for each.
    """
    each = {part: [sum(k.ns for k in kernels if k.part == part) for kernels in passes] for part in PARTS[:-1]}
    found = {part: statistics.median(ns) / _NS_PER_MS for part, ns in each.items()}
    if (total := sum(found.values())) > ms:
        found = {part: spent * ms / total for part, spent in found.items()}
    found["around"] = max(0.0, ms - sum(found.values()))
    return found, max((sum(k.products for k in kernels) for kernels in passes), default=0)
