"""One layer's weights from a file in the Hugging Face naming, before they are packed for a kernel."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from hsd_core.models.compiled.graph import LayerWeights, Product, dense
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.lean.shape import LeanShape

Weights = tuple[Callable[[str], Tensor], Collection[str]]  # name -> weight; all names


@dataclass(frozen=True, slots=True)
class Linear:
    """x W^T + b. weight: (N, K), in the file's dtype. bias: (N,) float32, or None."""

    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTensors:
    """The tensors of `LayerWeights`. Norms are float32."""

    attention_norm: Tensor
    qkv: Linear
    out: Linear
    mlp_norm: Tensor
    gate: Linear
    up: Linear
    down: Linear
    q_norm: Tensor | None = None
    k_norm: Tensor | None = None

    def gate_up(self) -> Linear:
        """Gate and up as one product."""
        parts = self.gate, self.up
        biases = [part.bias for part in parts if part.bias is not None]
        return Linear(torch.cat([part.weight for part in parts]), torch.cat(biases) if biases else None)

    def laid_out(self, product: Callable[[Tensor, Tensor | None], Product]) -> LayerWeights:
        """The layer's weights for a graph. product: makes one from a weight and a bias."""

        def made(linear: Linear) -> Product:
            return product(linear.weight, linear.bias)

        return LayerWeights(
            attention_norm=self.attention_norm,
            qkv=made(self.qkv),
            q_norm=self.q_norm,
            k_norm=self.k_norm,
            out=made(self.out),
            mlp_norm=self.mlp_norm,
            gate=made(self.gate),
            up=made(self.up),
            down=made(self.down),
        )


def read_weight(shape: LeanShape, opened: Weights, name: str, *sizes: int) -> Tensor:
    """A weight, checked to have these sizes, as kernels trust the sizes of their graph.

    Raises:
        DecoderError: it is missing, or has other sizes.
    """
    tensor, names = opened
    if name not in names:
        raise DecoderError(f"the weights lack {name!r}, which a {shape.model_type} of this config has")
    if (found := tensor(name)).shape != sizes:
        raise DecoderError(f"{name!r} has sizes {tuple(found.shape)}, and config.json asks for {sizes}")
    return found


def read_layer(shape: LeanShape, opened: Weights, i: int) -> LayerTensors:
    """Layer i.

    Raises:
        DecoderError: a weight is missing, or has other sizes than in the shape.
    """
    at, (tensor, names) = f"model.layers.{i}", opened
    queries, shared = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    gate = f"{at}.mlp.gate_proj.weight"
    inner = len(tensor(gate)) if gate in names else 0  # not in the shape

    def norm(name: str, size: int) -> Tensor:
        return dense(read_weight(shape, opened, f"{at}.{name}.weight", size))

    def fused(inputs: int, outputs: dict[str, int]) -> Linear:
        weights = [read_weight(shape, opened, f"{at}.{part}.weight", n, inputs) for part, n in outputs.items()]
        biased = [(name, n) for part, n in outputs.items() if (name := f"{at}.{part}.bias") in names]
        biases = [dense(read_weight(shape, opened, name, n)) for name, n in biased]
        weight = torch.cat(weights) if len(weights) > 1 else weights[0]
        return Linear(weight, torch.cat(biases) if biases else None)

    head_norms = f"{at}.self_attn.q_norm.weight" in names
    qkv = {f"self_attn.{part}_proj": n for part, n in (("q", queries), ("k", shared), ("v", shared))}
    return LayerTensors(
        attention_norm=norm("input_layernorm", shape.hidden),
        qkv=fused(shape.hidden, qkv),
        q_norm=norm("self_attn.q_norm", shape.head_size) if head_norms else None,
        k_norm=norm("self_attn.k_norm", shape.head_size) if head_norms else None,
        out=fused(queries, {"self_attn.o_proj": shape.hidden}),
        mlp_norm=norm("post_attention_layernorm", shape.hidden),
        gate=fused(shape.hidden, {"mlp.gate_proj": inner}),
        up=fused(shape.hidden, {"mlp.up_proj": inner}),
        down=fused(inner, {"mlp.down_proj": shape.hidden}),
    )
