"""Reading a transformers config: whether its cache can roll back, whether `lean` can run the model, and its sizes.
Imports no torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hsd_core.models.decoder_protocol import DecoderError

# Names of layers that keep keys and values of every position, or have no state.
KEPT_DENSE = ("full_attention", "attention", "full", "global", "global_attention", "moe", "mlp", "dense")
_FORGETS = ("sliding", "chunked", "local", "window", "compressed")
_RUNS = ("linear", "mamba", "ssm", "recurrent", "conv", "lstm", "rwkv", "delta", "retention")
_LISTS = re.compile(r"^(layer_types|layers?_block_types?|block_types?|layer_kinds)$")
# Keys of a config for state-space, linear-attention or recurrent layers: their state sums all inputs, and no position
# can be removed from it.
_RECURRENT = re.compile(
    r"(^|_)(ssm|mamba|rwkv|lru|[ms]lstm|xlstm|kda|gdn|linear_(attn|attention|num|key|value|conv))(_|$)"
    r"|^(state_size|time_step_rank|conv_L_cache|rescale_every|chunkwise_kernel)$"
)


def refuse_no_rollback(config: dict[str, Any]) -> None:
    """Check a config for layers without rollback: by the listed kinds of layers, else by keys that only layers with a
    running state have. Opening the model then measures it (`loading`).

    Raises:
        DecoderError: its cache cannot roll back; the message has the reason.
    """
    kind = config.get("model_type")
    if config.get("is_encoder_decoder"):
        raise DecoderError(f"a {kind!r} model is an encoder and a decoder; a level is a decoder only")
    text = config.get("text_config") or config
    refuse_sliding_window(text)
    if _kinds(text) is None and any(value and _RECURRENT.search(key) for key, value in text.items()):
        raise _running(f"a {kind!r} model")


def refuse_sliding_window(config: dict[str, Any]) -> None:
    """Raises DecoderError if any layer forgets positions: such a cache cannot roll back by a position."""
    kinds = _kinds(config)
    for other in kinds or ():
        if other in KEPT_DENSE:
            continue
        if any(part in other for part in _FORGETS):
            raise DecoderError(
                f"a layer is {other!r}: its cache forgets, so it cannot roll back; use a model with full attention"
            )
        if any(part in other for part in _RUNS):
            raise _running(f"a layer is {other!r}: it")
        raise DecoderError(
            f"a layer is {other!r}: nothing is known of its cache that says that it can roll back; use a model with "
            "full attention"
        )
    window = config.get("sliding_window")
    forgets = window and config.get("use_sliding_window", True) and not kinds
    if forgets and window < config.get("max_position_embeddings", math.inf):  # as long as the context: never forgets
        raise DecoderError(
            f"attention slides over {window} positions: its cache forgets, so it cannot roll back; "
            "use a model with full attention"
        )


def _kinds(config: dict[str, Any]) -> list[str] | None:
    """The kind of each layer, if the config lists them."""
    for key, value in config.items():
        if _LISTS.search(key) and isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return value
    return None


def _running(what: str) -> DecoderError:
    return DecoderError(
        f"{what} keeps a running state (state-space or linear attention), which cannot roll back; "
        "use a model with full attention"
    )


MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
# Ways of scaling rotary angles, with the keys that a config needs for each.
ROPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "default": (),
        "linear": ("factor",),
        "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    }
)


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
            DecoderError: the model has another shape, or a part that `lean` lacks.
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
        _refuse_rope(rope)
        return cls(
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

    def cache_bytes(self, slots: int, itemsize: int) -> int:
        """Bytes of keys and values of all layers, for this many slots, with numbers of `itemsize` bytes."""
        return 2 * self.layers * self.kv_heads * slots * self.head_size * itemsize


def _refuse_rope(rope: Mapping[str, Any]) -> None:
    kind = rope["rope_type"]
    if float(rope.get("partial_rotary_factor") or 1.0) != 1.0:
        raise DecoderError("partial_rotary_factor: the lean decoder rotates whole heads only")
    if kind not in ROPES:
        raise DecoderError(f"rope type {kind!r} is not known to the lean decoder ({', '.join(ROPES)})")
    if lacking := [name for name in ROPES[kind] if name not in rope]:
        raise DecoderError(f"config.json: rope type {kind!r} lacks {lacking[0]!r}; give it there")
