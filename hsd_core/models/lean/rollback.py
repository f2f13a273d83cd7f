"""Whether a model's cache can go back to an earlier position, by its config. Imports no torch."""

from __future__ import annotations

import math
import re
from typing import Any

from hsd_core.models.decoder_protocol import DecoderError

# What a layer is called that keeps keys and values of every position, or keeps nothing at all.
KEPT_DENSE = ("full_attention", "attention", "full", "global", "global_attention", "moe", "mlp", "dense")
_FORGETS = ("sliding", "chunked", "local", "window", "compressed")
_RUNS = ("linear", "mamba", "ssm", "recurrent", "conv", "lstm", "rwkv", "delta", "retention")
_LISTS = re.compile(r"^(layer_types|layers?_block_types?|block_types?|layer_kinds)$")
# Parts of a config that belong to state-space, linear-attention or recurrent layers: their state holds the sum of
# all inputs, and no position of it can be taken back.
_RECURRENT = re.compile(
    r"(^|_)(ssm|mamba|rwkv|lru|[ms]lstm|xlstm|kda|gdn|linear_(attn|attention|num|key|value|conv))(_|$)"
    r"|^(state_size|time_step_rank|conv_L_cache|rescale_every|chunkwise_kernel)$"
)


def refuse_no_rollback(config: dict[str, Any]) -> None:
    """What layers are, as far as a config says it: by the kind of each where they are listed, else by what only layers
    with a running state have. What it does not say is measured when the model is opened.

    Raises:
        DecoderError: its cache cannot go back to an earlier position; the message has the reason.
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
    """What each layer is called, where the config lists that."""
    for key, value in config.items():
        if _LISTS.search(key) and isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return value
    return None


def _running(what: str) -> DecoderError:
    return DecoderError(
        f"{what} keeps a running state (state-space or linear attention), which cannot roll back; "
        "use a model with full attention"
    )
