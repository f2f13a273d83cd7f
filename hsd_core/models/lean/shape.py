"""Reading a transformers config: whether its cache can roll back, whether `lean` can run the model, and its sizes.
Imports no torch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from hsd_core.models.decoder_protocol import DecoderError

# Names of layers that keep keys and values of every position, or have no state. A layer with a window keeps all of them
# too, in a cache that drops none: the mask hides what lies before the window.
KEPT_DENSE = ("full_attention", "attention", "full", "global", "global_attention", "moe", "mlp", "dense")
_WINDOWS = ("sliding", "chunked", "local", "window")
_RUNS = ("linear", "mamba", "ssm", "recurrent", "conv", "lstm", "rwkv", "delta", "retention", "hybrid")
_LISTS = re.compile(r"^(layer_types|layers?_block_types?|block_types?|layer_kinds)$")
# Keys of a config for state-space, linear-attention or recurrent layers: their state sums all inputs, and no position
# can be removed from it.
_RECURRENT = re.compile(
    r"(^|_)(ssm|mamba|rwkv|lru|[ms]lstm|xlstm|kda|gdn|linear_(attn|attention|num|key|value|conv))(_|$)"
    r"|^(state_size|time_step_rank|conv_L_cache|rescale_every|chunkwise_kernel)$"
)
# Families with running states that transformers can put back, and continue from by several tokens.
RESTORED = (
    "falcon_h1",
    "granitemoehybrid",
    "lfm2",
    "nemotron_h",
    "olmo_hybrid",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_next",
)


def config_restored(config: Mapping[str, Any]) -> bool:
    """Whether the running states of its family can be put back (`RESTORED`)."""
    text = config.get("text_config") or config
    return str(text.get("model_type", config.get("model_type"))).removesuffix("_text") in RESTORED


def refuse_no_rollback(config: dict[str, Any]) -> None:
    """Check a config for layers without rollback: by the listed kinds of layers, else by keys that only layers with a
    running state have, unless the family is `RESTORED`. Opening the model then measures it (`loading`).

    Raises:
        DecoderError: its cache cannot roll back; the message has the reason.
    """
    kind = config.get("model_type")
    if config.get("is_encoder_decoder"):
        raise DecoderError(f"a {kind!r} model is an encoder and a decoder; a level is a decoder only")
    if config_restored(config):
        return
    text = config.get("text_config") or config
    kinds = _kinds(text)
    if kinds is None and any(value and _RECURRENT.search(key) for key, value in text.items()):
        raise _running(f"a {kind!r} model")
    for other in kinds or ():
        if any(part in other for part in _RUNS):
            raise _running(f"a layer is {other!r}: it")
        if other not in KEPT_DENSE and ("compressed" in other or not any(part in other for part in _WINDOWS)):
            raise DecoderError(
                f"a layer is {other!r}: nothing is known of its cache that says that it can roll back; use a model "
                "with full or sliding attention"
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
        "use a model with full or sliding attention"
    )


MODEL_TYPES = ("llama", "mistral", "ministral", "qwen2", "qwen3", "mimo", "gemma3_text")
_GATES = {"silu": "silu", "gelu_pytorch_tanh": "gelu"}
# What a config of Gemma 3 does not say where it is the default.
_GEMMA3: Mapping[str, Any] = MappingProxyType(
    {
        "vocab_size": 262_208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 131_072,
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "query_pre_attn_scalar": 256,
        "sliding_window_pattern": 6,
        "tie_word_embeddings": True,
    }
)
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
    """The sizes of a Llama-shaped model, and in what it departs from Llama.

    rope: the scaling rule's parameters, {"rope_type": "default"} for none. windows: the positions that each layer
    attends to, the input's own among them, 0 for all; (): 0 in all layers. local_theta: the rotary base of layers with
    a window, if it is another. gate: "silu" or "gelu" (its tanh form). Of Gemma: embed_scale multiplies embeddings,
    query_scale the normalised queries, norm_offset is added to the weights of norms.
    """

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
    windows: tuple[int, ...] = ()
    local_theta: float | None = None
    gate: str = "silu"
    embed_scale: float = 1.0
    query_scale: float = 1.0
    norm_offset: float = 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LeanShape:
        """Read a config.json.

        Raises:
            DecoderError: the model has another shape, or a part that `lean` lacks.
        """
        kind = config.get("model_type")
        if kind == "gemma3":  # with an encoder of images; its text alone
            config, kind = {**(config.get("text_config") or {}), "model_type": "gemma3_text"}, "gemma3_text"
        if kind not in MODEL_TYPES:
            raise DecoderError(f"model type {kind!r} is not one that the lean decoder runs ({', '.join(MODEL_TYPES)})")
        gemma = kind == "gemma3_text"
        config = {**_GEMMA3, **config} if gemma else config
        needed = ("num_attention_heads", "vocab_size", "hidden_size", "num_hidden_layers")
        if lacking := [name for name in needed if name not in config]:
            raise DecoderError(f"config.json lacks {lacking[0]!r}; save the model again with its full config")
        if (act := config.get("hidden_activation" if gemma else "hidden_act", "silu")) not in _GATES:
            raise DecoderError(f"hidden_act {act!r}: the lean decoder has the gates {', '.join(_GATES)} only")
        if caps := [key for key in ("attn_logit_softcapping", "final_logit_softcapping") if config.get(key)]:
            raise DecoderError(f"{caps[0]}: the lean decoder does not cap logits")
        heads = config["num_attention_heads"]
        head_size = config.get("head_dim") or config["hidden_size"] // heads
        rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
        local = {"rope_theta": config.get("rope_local_base_freq"), **rope.get("sliding_attention", {})}
        rope = dict(rope.get("full_attention", rope))
        rope.setdefault("rope_type", rope.pop("type", "default"))
        _refuse_rope(rope)
        if local.get("rope_type", "default") != "default":
            raise DecoderError(f"rope type {local['rope_type']!r}: layers with a window have 'default' here")
        return cls(
            model_type=kind,
            vocab_size=config["vocab_size"],
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_size=head_size,
            norm_eps=config.get("rms_norm_eps", 1e-6),
            rope_theta=rope.get("rope_theta") or config.get("rope_theta") or 10_000.0,
            rope=rope,
            max_positions=config.get("max_position_embeddings", 2048),
            tied=bool(config.get("tie_word_embeddings", False)),
            windows=_windows(config),
            local_theta=local["rope_theta"],
            gate=_GATES[act],
            embed_scale=config["hidden_size"] ** 0.5 if gemma else 1.0,
            query_scale=(head_size / config["query_pre_attn_scalar"]) ** 0.5 if gemma else 1.0,
            norm_offset=1.0 if gemma else 0.0,
        )

    def of_draft(self, layers: int) -> LeanShape:
        """The shape of a draft's layers over this model: Llama's, of the same sizes."""
        return replace(self, layers=layers, windows=(), local_theta=None, gate="silu")

    def cache_bytes(self, slots: int, itemsize: int) -> int:
        """Bytes of keys and values of all layers, for this many slots, with numbers of `itemsize` bytes."""
        return 2 * self.layers * self.kv_heads * slots * self.head_size * itemsize


def _windows(config: Mapping[str, Any]) -> tuple[int, ...]:
    kind, layers = config["model_type"], range(config["num_hidden_layers"])
    window, listed = config.get("sliding_window", 4096) or 0, _kinds(dict(config))
    gemma = kind == "gemma3_text"  # whose layers with a window have other rotary angles too
    off = kind == "llama" or (kind in ("qwen2", "qwen3", "mimo") and not config.get("use_sliding_window"))
    if off or (not gemma and window >= config.get("max_position_embeddings", 2048)):  # as long as the context
        return ()
    if listed:
        return tuple(window * (one == "sliding_attention") for one in listed)
    if gemma:
        return tuple(window * bool((i + 1) % config["sliding_window_pattern"]) for i in layers)
    full = config.get("max_window_layers", 28) if "use_sliding_window" in config else 0  # the first ones
    return tuple(window * (i >= full) for i in layers)


def _refuse_rope(rope: Mapping[str, Any]) -> None:
    kind = rope["rope_type"]
    if float(rope.get("partial_rotary_factor") or 1.0) != 1.0:
        raise DecoderError("partial_rotary_factor: the lean decoder rotates whole heads only")
    if kind not in ROPES:
        raise DecoderError(f"rope type {kind!r} is not known to the lean decoder ({', '.join(ROPES)})")
    if lacking := [name for name in ROPES[kind] if name not in rope]:
        raise DecoderError(f"config.json: rope type {kind!r} lacks {lacking[0]!r}; give it there")
