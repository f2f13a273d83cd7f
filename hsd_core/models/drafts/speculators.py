"""The configs of drafters that vLLM's speculators writes. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# it writes only what differs from the defaults of transformers' class
_UNSAID: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "llama": {"hidden_size": 4096, "num_attention_heads": 32, "vocab_size": 32_000},
        "qwen3": {
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_key_value_heads": 32,
            "head_dim": 128,
            "vocab_size": 151_936,
        },
    }
)


def layers_of(config: Mapping[str, Any], usual: str) -> Mapping[str, Any]:
    """The config of a drafter's layers, as of a whole model. usual: their model type if it is not said."""
    nested = config.get("transformer_layer_config")
    if nested is None:
        return config
    kind = nested.get("model_type", usual)
    return {**_UNSAID.get(kind, {}), "model_type": kind, **nested}
