"""What smoothing promises: the same layer in real numbers, and 8-bit copies that stay nearer to float32."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import pytest
import torch

pytest.importorskip("onnxruntime")

from tiny import made

from hsd_core.models.compiled import decoder as decoders
from hsd_core.models.compiled.decoder import EMBEDDING, CompiledDecoder
from hsd_core.models.compiled.layer import LayerTensors, Linear, read_layer
from hsd_core.models.compiled.smoothing import input_divisors, smoothed, smoothing
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Plain
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.one_pass import Pass

IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]
LOUD = 7  # the channel that stands out


def loud(kind: str) -> tuple[LeanShape, dict[str, torch.Tensor]]:
    """A random model one channel of whose norms, and one of whose gates, is 40 times as large as the others."""
    shape, weights = made(kind, head_dim=16, inner=64)
    for name, weight in weights.items():
        if name.endswith("layernorm.weight"):
            weight[LOUD] *= 40
        elif any(part in name for part in ("q_proj.w", "k_proj.w", "v_proj.w", "gate_proj.w", "up_proj.w")):
            weight[:, LOUD] /= 40
        if "up_proj" in name:
            weight[LOUD] *= 40
        elif "down_proj" in name:
            weight[:, LOUD] /= 40
    return shape, weights


def through(shape: LeanShape, layer: LayerTensors, x: torch.Tensor) -> torch.Tensor:
    def plain(linear: Linear) -> Plain:
        return Plain(linear.weight.float(), linear.bias)

    products = plain(layer.qkv), layer.q_norm, layer.k_norm, plain(layer.out)
    mlp = plain(layer.gate_up()), plain(layer.down)
    one = Layers(shape, [Layer(layer.attention_norm, *products, layer.mlp_norm, *mlp)], dtype=x.dtype, device="cpu")
    return one.forward(Pass(range(len(x))), x, one.new_cache(len(x)), 0, 1)


@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2", "qwen3"])
def test_a_smoothed_layer_is_the_same_layer(kind: str) -> None:
    shape, weights = loud(kind)
    source = weights.__getitem__, set(weights)
    layers = partial(read_layer, shape, source)
    embedding = weights[EMBEDDING]
    found = smoothing(shape, embedding, layers, weights["model.norm.weight"], embedding)
    assert len(found.layers) == shape.layers
    x = torch.randn(5, shape.hidden, generator=torch.Generator().manual_seed(1))
    for i, by in enumerate(found.layers):
        assert by.attention.argmax() == LOUD and by.attention[LOUD] > 4, "the loud channel is divided by more"
        layer, same = layers(i), smoothed(shape, layers(i), by)
        assert not torch.allclose(same.qkv.weight, layer.qkv.weight)
        assert not torch.allclose(same.out.weight, layer.out.weight)
        expected = through(shape, layer, x)
        assert (through(shape, same, x) - expected).abs().max() < 1e-4 * expected.abs().max()


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_a_smoothed_copy_is_nearer_to_float32(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, weights = loud(kind)
    source = weights.__getitem__, set(weights)
    expected = lean.LeanDecoder(shape, *source).forward(
        Pass(IDS, 0, 12), lean.LeanDecoder(shape, *source).new_cache(12)
    )

    def off() -> float:
        copy = CompiledDecoder(shape, lambda: nullcontext(source), dtype="int8")
        return float((copy.forward(Pass(IDS, 0, 12), copy.new_cache(12)) - expected).abs().mean())

    near = off()
    monkeypatch.setattr(decoders, "smoothed", lambda shape, layer, by: layer)
    assert near < 0.5 * off()


def test_channels_that_do_not_stand_out_are_left_as_they_are() -> None:
    by = input_divisors(torch.tensor([0.0, 1.0, 2.0, 2.0, 200.0]), torch.ones(4, 5))
    assert by.tolist() == pytest.approx([1.0, 1.0, 1.0, 1.0, 10.0])
    silent = input_divisors(torch.zeros(3), torch.zeros(4, 3))
    assert silent.isfinite().all(), "nothing spoke, and no weight either"
