"""Reading a transformers config: is this a model that `lean` can run, and with which sizes?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hsd_core.models.decoder_protocol import DecoderError

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
KEPT_DENSE = ("full_attention",)


@dataclass(frozen=True, slots=True)
class LeanShape:
    """The sizes of a Llama-shaped model. `rope`: the scaling rule's parameters, {"rope_type": "default"} for none."""

    model_type: str
    vocab_size: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    norm_eps: float
    rope_theta: float
    rope: dict[str, Any]
    max_positions: int
    tied: bool

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LeanShape:
        """Read a config.json.

        Raises:
            DecoderError: the model is of another shape, or of this shape with a part that `lean` lacks.
        """
        kind = config.get("model_type")
        if kind not in MODEL_TYPES:
            raise DecoderError(f"model type {kind!r} is not one that the lean decoder runs ({', '.join(MODEL_TYPES)})")
        refuse_sliding_window(config)
        needed = ("num_attention_heads", "vocab_size", "hidden_size", "num_hidden_layers")
        if lacking := [name for name in needed if name not in config]:
            raise DecoderError(f"config.json lacks {lacking[0]!r}; save the model again with its full config")
        if (act := config.get("hidden_act", "silu")) != "silu":
            raise DecoderError(f"hidden_act {act!r}: the lean decoder has the SiLU gate only")
        heads = config["num_attention_heads"]
        rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
        rope.setdefault("rope_type", rope.pop("type", "default"))
        shape = cls(
            model_type=kind,
            vocab_size=config["vocab_size"],
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_size=config.get("head_dim") or config["hidden_size"] // heads,
            norm_eps=config.get("rms_norm_eps", 1e-6),
            rope_theta=rope.get("rope_theta") or config.get("rope_theta") or 10_000.0,
            rope=rope,
            max_positions=config.get("max_position_embeddings", 2048),
            tied=bool(config.get("tie_word_embeddings", False)),
        )
        try:
            _frequencies(shape)  # refuses what it does not know
        except KeyError as error:
            raise DecoderError(f"config.json: rope type {rope['rope_type']!r} lacks {error}; give it there") from error
        return shape

    def cache_bytes(self, slots: int, itemsize: int) -> int:
        """Keys and values of so many slots in all layers, in numbers of `itemsize` bytes."""
        return 2 * self.layers * self.kv_heads * slots * self.head_size * itemsize


def refuse_sliding_window(config: dict[str, Any]) -> None:
    """Raises DecoderError if any layer forgets positions: such a cache cannot roll back by a position."""
    kinds = config.get("layer_types")
    if kinds and any(kind not in KEPT_DENSE for kind in kinds):
        other = next(kind for kind in kinds if kind not in KEPT_DENSE)
        raise DecoderError(
            f"a layer is {other!r}: its cache forgets, so it cannot roll back; use a model with full attention"
        )
    window = config.get("sliding_window")
    forgets = window and config.get("use_sliding_window", True) and not kinds
    if forgets and window < config.get("max_position_embeddings", math.inf):  # as long as the context: never forgets
        raise DecoderError(
            f"attention slides over {window} positions: its cache forgets, so it cannot roll back; "
            "use a model with full attention"
        )


def rotary_tables(shape: LeanShape) -> tuple[Tensor, Tensor]:
    """cos and signed sin of every position's angles, (max_positions, head_size) float32.

    With halves (a, b) of a head, the rotation is (a cos - b sin, b cos + a sin); the second table holds
    (-sin, sin), to be multiplied with the swapped halves (b, a).
    """
    angles = torch.outer(torch.arange(shape.max_positions).float(), _frequencies(shape))
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)


def _frequencies(shape: LeanShape) -> Tensor:
    """(head_size / 2,) angles per position: theta^(-2j/d), scaled by the rope type."""
    d, kind = shape.head_size, shape.rope["rope_type"]
    base = 1.0 / shape.rope_theta ** (torch.arange(0, d, 2).float() / d)
    if float(shape.rope.get("partial_rotary_factor") or 1.0) != 1.0:
        raise DecoderError("partial_rotary_factor: the lean decoder rotates whole heads only")
    if kind == "default":
        return base
    if kind == "linear":
        return base / float(shape.rope["factor"])
    if kind == "llama3":
        return _llama3(base, shape.rope)
    raise DecoderError(f"rope type {kind!r} is not known to the lean decoder (default, linear, llama3)")


def _llama3(base: Tensor, rope: dict[str, Any]) -> Tensor:
    """Llama 3.1's rule: long wavelengths are stretched by `factor`, short ones kept, blended between."""
    factor, low, high = (float(rope[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
    turns = rope["original_max_position_embeddings"] * base / (2 * math.pi)  # full turns within the old context
    blend = ((turns - low) / (high - low)).clamp(0, 1)  # 0: stretched, 1: kept
    stretched: Tensor = base * (blend + (1 - blend) / factor)
    return stretched
