"""Whether a model's cache can go back to an earlier position, by its config. Imports no torch."""

from __future__ import annotations

import math
from typing import Any

from hsd_core.models.decoder_protocol import DecoderError

KEPT_DENSE = ("full_attention",)
# Parts of a config that belong to state-space, linear-attention or recurrent layers: their state holds the sum of
# all inputs, and no position of it can be taken back.
_RECURRENT = ("ssm_cfg", "mamba_d_state", "state_size", "mamba_expand", "linear_attn_config", "linear_num_value_heads")
_RECURRENT_TYPES = ("mamba", "mamba2", "rwkv", "xlstm", "recurrent_gemma", "falcon_mamba", "jamba", "bamba", "zamba")


def refuse_no_rollback(config: dict[str, Any]) -> None:
    """Raises DecoderError, with the reason, for a model whose cache cannot go back to an earlier position."""
    kind = config.get("model_type")
    if config.get("is_encoder_decoder"):
        raise DecoderError(f"a {kind!r} model is an encoder and a decoder; a level is a decoder only")
    text = config.get("text_config") or config
    refuse_sliding_window(text)
    if kind in _RECURRENT_TYPES or any(text.get(key) for key in _RECURRENT):
        raise DecoderError(
            f"a {kind!r} model keeps a running state (state-space or linear attention), which cannot roll back; "
            "use a model with full attention"
        )


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
