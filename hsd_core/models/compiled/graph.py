"""Graphs of onnxruntime for ranges of a model's layers, and for drafts over them.

A layer computes the same as `layers.Layers`: RMSNorm, one product for q, k, v, rotary positions and attention over a
cache that is written in place (GroupQueryAttention), the gate. Every variable size is an input, so one graph serves any
number of rows.

Names: n inputs, H query heads, G key/value heads, d head size, t visible slots, p filler rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hsd_core.models.compiled import onnx_bytes
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.lean.sublayers import NONE, Sublayers

MICROSOFT = "com.microsoft"
Product = Callable[["Graph", str, str], str]  # (graph, name, input value) -> result


class Graph:
    """Nodes in execution order, and the weights that they use."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._declared: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self.tensors: dict[str, np.ndarray] = {}
        self._values = 0
        self._widened: dict[str, str] = {}
        self._rounded: dict[str, tuple[str, str]] = {}

    def input(self, name: str, kind: str, dims: onnx_bytes.Dims) -> str:
        self._inputs.append(onnx_bytes.value(name, kind, dims))
        return name

    def output(self, name: str, dims: onnx_bytes.Dims) -> str:
        """Declare a float32 output of the graph; `put` makes it."""
        self._outputs.append(onnx_bytes.value(name, "float32", dims))
        return name

    def weight(self, name: str, tensor: Tensor) -> str:
        array = tensor.contiguous().numpy()
        self.tensors[name] = array
        self._declared[name] = onnx_bytes.weight(name, str(array.dtype), array.shape)
        return name

    def numbers(self, *numbers: int) -> str:
        """A constant (len(numbers),) int64."""
        name = "numbers_" + "_".join(map(str, numbers))
        self._declared[name] = onnx_bytes.constant(name, numbers)
        return name

    def op(self, name: str, inputs: Sequence[str], *, domain: str = "", **attributes: onnx_bytes.Value) -> str:
        return self.ops(name, inputs, 1, domain=domain, **attributes)[0]

    def ops(
        self, name: str, inputs: Sequence[str], outputs: int, *, domain: str = "", **attributes: onnx_bytes.Value
    ) -> list[str]:
        made = self.new(outputs)
        self.put(name, inputs, made, domain=domain, **attributes)
        return made

    def new(self, count: int) -> list[str]:
        """New names of values."""
        self._values += count
        return [f"v{self._values - i}" for i in range(count)]

    def put(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        domain: str = "",
        **attributes: onnx_bytes.Value,
    ) -> None:
        """Add a node with these names of its results, "" for an unused one."""
        self._nodes.append(onnx_bytes.node(name, inputs, outputs, domain, **attributes))

    def with_group_means(self, x: str, size: int, times: int) -> str:
        """(1, n, K + times K / size): x followed by the means of groups of `size`, repeated `times`; made once for each
        x."""
        if x not in self._widened:
            means = self.op("AveragePool", [x], kernel_shape=[size], strides=[size])
            self._widened[x] = self.op("Concat", [x, *[means] * times], axis=2)
        return self._widened[x]

    def scalar(self, name: str, number: float, dtype: torch.dtype = torch.float32) -> str:
        return name if name in self.tensors else self.weight(name, torch.tensor(number, dtype=dtype))

    def rounded_by_row(self, x: str, inputs: int, turn: Tensor, step: str, zero: str) -> tuple[str, str]:
        """x (1, n, inputs), its groups of channels times `turn` (g, g), as unsigned 8-bit parts of each row's largest,
        and these, (1, n, 1); made once for each x. step, zero: scalars, of the 8-bit numbers."""
        if x not in self._rounded:
            name, size = f"turn_{len(turn)}", len(turn)
            turned = name if name in self.tensors else self.weight(name, turn)
            y = self.op("MatMul", [self.op("Reshape", [x, self.numbers(1, -1, size)]), turned])
            y = self.op("Reshape", [y, self.numbers(1, -1, inputs)])
            most = self.op("ReduceMax", [self.op("Abs", [y])], axes=[-1], keepdims=1)
            self._rounded[x] = self.op("QuantizeLinear", [self.op("Div", [y, most]), step, zero]), most
        return self._rounded[x]

    def norm(self, x: str, name: str, weight: Tensor, eps: float) -> str:
        return self.op("SimplifiedLayerNormalization", [x, self.weight(name, weight)], axis=-1, epsilon=eps)

    def added_norm(self, x: str, more: str, name: str, weight: Tensor, eps: float) -> tuple[str, str]:
        """norm(x + more), x + more."""
        inputs = [x, more, self.weight(name, weight)]
        normal, total = self.new(2)
        outputs = [normal, "", "", total]
        self.put("SkipSimplifiedLayerNormalization", inputs, outputs, domain=MICROSOFT, epsilon=eps)
        return normal, total

    def model(self) -> bytes:
        return onnx_bytes.model(self._nodes, self._declared.values(), self._inputs, self._outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerWeights:
    """One layer's products and norms. q_norm, k_norm: (d,) norms of the heads, or None."""

    attention_norm: Tensor
    qkv: Product
    out: Product
    mlp_norm: Tensor
    gate: Product
    up: Product
    down: Product
    q_norm: Tensor | None = None
    k_norm: Tensor | None = None


def steering(graph: Graph, shape: LeanShape, seat: str = "") -> None:
    """The inputs in addition to x for the position of a pass that is a chain (see `CompiledCache.place_chain`).

    seat: the end of the names, in a graph for several texts; `from`, `to` are the text's rows of x then.
    """
    half = shape.head_size // 2
    graph.input(f"last{seat}", "int32", [1])
    graph.input(f"total{seat}", "int32", [1])
    graph.input(f"rows{seat}", "int64", [1])
    graph.input(f"fill{seat}", "float32", [1, f"p{seat}", (shape.heads + 2 * shape.kv_heads) * shape.head_size])
    for table in ("cos", "sin"):
        graph.input(table + seat, "float32", [f"places{seat}", half])
    for end in ("from", "to") if seat else ():
        graph.input(end + seat, "int64", [1])


def branching(graph: Graph, seat: str = "") -> tuple[str, str]:
    """Further inputs for trees: see `CompiledCache.steer`."""
    rows, seen = f"n+p{seat}", f"t{seat}"
    positions = graph.input(f"positions{seat}", "int64", [1, rows])
    return positions, graph.input(f"bias{seat}", "float32", [1, 1, rows, seen])


def layers(
    graph: Graph,
    shape: LeanShape,
    x: str,
    numbered: Iterable[tuple[int, LayerWeights]],
    out: str = "",
    branches: tuple[str, str] = ("", ""),
    within: Collection[int] = (),
    without: Sublayers = NONE,
    *,
    asked: bool = False,
    seats: Sequence[str] = (),
) -> str:
    """Layers over x (1, n, hidden): the states after them, named `out`. Layer i writes into `key.i` and `value.i`.

    Args:
        branches: the result of `branching`, if inputs may be a tree. within: layers whose attention gets the input of
        the
            layer before it, see `lean.sublayers`. without: sublayers to leave out, of layers in no group. asked: layer
            i outputs its queries before rotation as `asked.i`. seats: for several texts, those of `steering`; each
            attends to its own cache, `key.i` and `value.i` with the seat behind.
    """
    eps = float(shape.norm_eps)
    # The kernels of a norm with and without a sum add in different orders. So the first norm adds zeros: then results
    # do not depend on where layers are split.
    more, begun = graph.op("Sub", [x, x]), x
    for i, layer in numbered:
        at = f"{i}."
        if i not in without.attention:
            if i in within:
                y, x = graph.norm(begun, at + "attention_norm", layer.attention_norm, eps), graph.op("Add", [x, more])
            else:
                y, x = graph.added_norm(x, more, at + "attention_norm", layer.attention_norm, eps)
                begun = x
            qkv = layer.qkv(graph, at + "qkv", y)
            if seats:
                attended = _attention_by_text(graph, shape, i, layer, qkv, seats)
            else:
                attended = _attention(graph, shape, i, layer, qkv, branches, asked=asked)
            more = layer.out(graph, at + "out", attended)
        if i in without.mlp:
            continue
        y, x = graph.added_norm(x, more, at + "mlp_norm", layer.mlp_norm, eps)
        # QuickGelu with a factor of 1 is x sigmoid(x)
        gate = graph.op("QuickGelu", [layer.gate(graph, at + "gate", y)], domain=MICROSOFT, alpha=1.0)
        more = layer.down(graph, at + "down", graph.op("Mul", [gate, layer.up(graph, at + "up", y)]))
    out = out or graph.new(1)[0]
    graph.put("Add", [x, more], [out])
    return out


def _attention_by_text(
    graph: Graph, shape: LeanShape, i: int, layer: LayerWeights, qkv: str, seats: Sequence[str]
) -> str:
    found = list[str]()
    for seat in seats:
        own = graph.op("Slice", [qkv, f"from{seat}", f"to{seat}", graph.numbers(1)])
        found.append(_attention(graph, shape, i, layer, own, (f"positions{seat}", f"bias{seat}"), seat))
    return graph.op("Concat", found, axis=1)


def _attention(
    graph: Graph,
    shape: LeanShape,
    i: int,
    layer: LayerWeights,
    qkv: str,
    branches: tuple[str, str],
    seat: str = "",
    *,
    asked: bool = False,
) -> str:
    size, queries, shared = shape.head_size, shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    # Attention over one row sums in another order than over several: a row of zeros is added to a single one.
    qkv = graph.op("Concat", [qkv, f"fill{seat}"], axis=1)
    taken = [qkv, "", ""]
    if layer.q_norm is not None and layer.k_norm is not None:
        taken = graph.ops("Split", [qkv, graph.numbers(queries, shared, shared)], 3, axis=2)
        for part, (name, norm) in enumerate((("q_norm", layer.q_norm), ("k_norm", layer.k_norm))):
            heads = graph.op("Reshape", [taken[part], graph.numbers(1, -1, (shape.heads, shape.kv_heads)[part], size)])
            heads = graph.norm(heads, f"{i}.{name}", norm, float(shape.norm_eps))
            taken[part] = graph.op("Reshape", [heads, graph.numbers(1, -1, (queries, shared)[part])])
    if asked:  # the queries of the first input
        corner = graph.numbers(0, 0), graph.numbers(1, queries), graph.numbers(1, 2)
        graph.put("Slice", [taken[0], *corner], [graph.output(f"asked.{i}", [1, 1, queries])])
    room: onnx_bytes.Dims = [1, shape.kv_heads, f"slots{seat}", size]
    kept = [graph.input(f"{name}.{i}{seat}", "float32", room) for name in ("key", "value")]
    inputs = [*taken, *kept, *(f"{name}{seat}" for name in ("last", "total", "cos", "sin")), *branches]
    written = [graph.output(f"{name}.{i}{seat}.written", room) for name in ("key", "value")]
    (attended,) = graph.new(1)
    sizes = {"num_heads": shape.heads, "kv_num_heads": shape.kv_heads}
    graph.put("GroupQueryAttention", inputs, [attended, *written], domain=MICROSOFT, do_rotary=1, **sizes)
    return graph.op("Slice", [attended, graph.numbers(0), f"rows{seat}", graph.numbers(1)])


def dense(tensor: Tensor) -> Tensor:
    """A tensor that is not quantised, as a graph needs it: float32, on the CPU."""
    return tensor.detach().to(device="cpu", dtype=torch.float32)
