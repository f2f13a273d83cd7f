"""Balancing the rounding of 8-bit products between inputs and weights: SmoothQuant (arXiv 2211.10438).

An 8-bit product rounds its inputs too, by rows and groups, and a channel that is much larger than the others of its
group leaves them few steps. So channel j of an input is divided by

    s_j = max(1, r_j / median r),  r_j = sqrt(max |x_j| / rms w_j)

and column j of the weight multiplied by it, which is the same product in real numbers. Section 4 has r with alpha = 1/2
and the largest weight of a column; here several products share an input, each with its own scales of rows, and channels
of ordinary size are not changed. Nothing is divided while the model runs: the divisors are folded into a norm's weight,
the rows of `up` and those of the values.

The largest inputs are measured on random tokens: which channels are large depends on the model, hardly on the text. On
40 texts of SmolLM2-135M (8,156 tokens) the argmax differs from float32's at 2.6 % of the tokens in groups of 64, at 4.3
% in the same groups without smoothing, and at 3.3 % in groups of 32 without, which take a sixth longer for eight rows.

A model's smoothing is cached: measuring takes 0.5 to 0.8 s of the 3.2 to 3.6 s in which SmolLM2's default stack opens
(AMD EPYC with AVX-512, two cores). The key is a digest of the shape and of samples of the weights. With any cached
numbers the products stay the same in real numbers.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from hsd_core.models.compiled.layer import LayerTensors, Linear, Weights
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Plain, aligned
from hsd_core.models.lean.positions import rotary_tables
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.one_pass import Pass
from hsd_core.models.weights.source import WeightsError
from hsd_core.models.weights.store import build

TOKENS = 256  # random ones
TINY = torch.finfo(torch.float32).tiny


@dataclass(frozen=True, slots=True)
class LayerSmoothing:
    """The divisors of one layer's inputs: (hidden,), (G d,), (hidden,) and (inner,)."""

    attention: Tensor
    values: Tensor
    mlp: Tensor
    inner: Tensor


@dataclass(frozen=True, slots=True)
class Smoothing:
    """The divisors of a model: of its layers, and (hidden,) of its head."""

    layers: tuple[LayerSmoothing, ...]
    head: Tensor


class _Watched(Plain):
    """A product that records the maximum of each input, (K,)."""

    def __init__(self, linear: Linear) -> None:
        super().__init__(aligned(linear.weight.float()), linear.bias)  # a tensor of a file may be unaligned
        self.peaks = torch.zeros(())

    def __call__(self, x: Tensor) -> Tensor:
        self.peaks = x.abs().amax(0)
        return super().__call__(x)


@torch.no_grad()
def smoothing(
    shape: LeanShape, embedding: Tensor, layers: Callable[[int], LayerTensors], norm: Tensor, head: Tensor
) -> Smoothing:
    """Measure the inputs of all products, one layer at a time.

    Args:
        embedding: (V, hidden). layers: opens a layer's weights. norm: (hidden,) before the head. head: (V', hidden).
    """
    drawn, n = torch.Generator().manual_seed(0), min(TOKENS, shape.max_positions)
    x = embedding[torch.randint(len(embedding), (n,), generator=drawn)].float()
    alone, rotary, found = replace(shape, layers=1), rotary_tables(shape), []
    for i in range(shape.layers):
        opened = layers(i)
        qkv, out, gate_up, down = (_Watched(p) for p in (opened.qkv, opened.out, opened.gate_up(), opened.down))
        norms = opened.attention_norm, opened.q_norm, opened.k_norm, opened.mlp_norm
        layer = Layer(norms[0], qkv, norms[1], norms[2], out, norms[3], gate_up, down)
        one = Layers(alone, [layer], dtype=torch.float32, device="cpu", rotary=rotary)
        x = one.forward(Pass(range(n)), x, one.new_cache(n), 0, 1)
        # query heads with one value head share its channels
        sharing = shape.kv_heads, shape.heads // shape.kv_heads, shape.head_size
        spoken = out.peaks.view(sharing).amax(1).flatten()
        columns = opened.out.weight.view(-1, *sharing).transpose(1, 2).reshape(-1, len(spoken))
        found.append(
            LayerSmoothing(
                attention=input_divisors(qkv.peaks, opened.qkv.weight),
                values=input_divisors(spoken, columns),
                mlp=input_divisors(gate_up.peaks, gate_up.weight),
                inner=input_divisors(down.peaks, opened.down.weight),
            )
        )
    last = F.rms_norm(x, norm.shape, norm, shape.norm_eps)
    return Smoothing(tuple(found), input_divisors(last.abs().amax(0), head))


def input_divisors(inputs: Tensor, weight: Tensor) -> Tensor:
    """(K,) largest inputs, (N, K) weight -> (K,) divisors of the inputs, at least 1."""
    columns: Tensor = torch.linalg.vector_norm(weight, dim=0, dtype=torch.float32) / len(weight) ** 0.5
    ratio: Tensor = (inputs / columns.clamp_min(TINY)).sqrt()
    return torch.maximum(ratio / ratio.median().clamp_min(TINY), torch.ones(()))


def smoothed(shape: LeanShape, layer: LayerTensors, by: LayerSmoothing) -> LayerTensors:
    """The layer with divided inputs, the same in real numbers."""
    keys = torch.ones(len(layer.qkv.weight) - len(by.values))
    values = by.values.view(shape.kv_heads, 1, -1).expand(-1, shape.heads // shape.kv_heads, -1)
    return replace(
        layer,
        attention_norm=layer.attention_norm / by.attention,
        qkv=_scaled(layer.qkv, columns=by.attention, rows=torch.cat((keys, 1 / by.values))),
        out=_scaled(layer.out, columns=values.reshape(-1)),
        mlp_norm=layer.mlp_norm / by.mlp,
        gate=_scaled(layer.gate, columns=by.mlp),
        up=_scaled(layer.up, columns=by.mlp, rows=1 / by.inner),
        down=_scaled(layer.down, columns=by.inner),
    )


def _scaled(linear: Linear, *, columns: Tensor, rows: Tensor | None = None) -> Linear:
    weight, bias = linear.weight.float() * columns, linear.bias
    if rows is not None:
        weight, bias = weight.mul_(rows[:, None]), None if bias is None else bias * rows
    return Linear(weight, bias)


VERSION = 1  # of the computation; other versions are computed again
SAMPLED = 4096  # bytes of each weight in the digest
PARTS = ("attention", "values", "mlp", "inner")
WORTH = 2**20  # numbers of the embedding; smaller models are measured as fast as a file is opened
NEED_MB = 8.0
FILE = "smoothing.safetensors"
log = logging.getLogger(__name__)


def cached_smoothing(shape: LeanShape, opened: Weights, make: Callable[[], Smoothing]) -> Smoothing:
    """The smoothing of these weights, from the cache or computed and cached, if the cache can be written."""

    if shape.vocab_size * shape.hidden < WORTH:
        return make()
    made: list[Smoothing] = []

    def written(folder: Path) -> dict[str, object]:
        made.append(make())
        save_file(_flat(made[0]), folder / FILE)
        return {"smoothing": VERSION}

    try:
        folder = build(f"smoothing-{_digest(shape, opened)}", written, need_mb=NEED_MB)
    except WeightsError as error:
        log.warning("smoothing is not cached: %s", error)
        return made[0] if made else make()
    return made[0] if made else _read(shape, load_file(folder / FILE))


def _digest(shape: LeanShape, opened: Weights) -> str:
    tensor, names = opened
    found = hashlib.sha256(f"{VERSION} {shape}".encode())
    for name in sorted(names):
        sample = tensor(name).flatten()
        found.update(f"{name} {sample.shape} {sample.dtype}".encode())
        found.update(sample[: SAMPLED // sample.element_size()].clone().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]


def _flat(given: Smoothing) -> dict[str, Tensor]:
    layers = {f"{i}.{part}": getattr(layer, part) for i, layer in enumerate(given.layers) for part in PARTS}
    return {name: tensor.contiguous() for name, tensor in {**layers, "head": given.head}.items()}


def _read(shape: LeanShape, tensors: dict[str, Tensor]) -> Smoothing:
    layers = (LayerSmoothing(*(tensors[f"{i}.{part}"] for part in PARTS)) for i in range(shape.layers))
    return Smoothing(tuple(layers), tensors["head"])
