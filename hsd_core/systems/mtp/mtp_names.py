"""Where checkpoints hold their heads for multi-token prediction. Imports no torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

_COUNTS = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")


class HeadNames(NamedTuple):
    """Names of a head's weights, without "model." and ".weight".

    token, state: the norms of its two inputs. join: the product that joins them. norm: the one after its layer.
    layer: its layer. state_first: the order of the inputs.
    """

    token: str
    state: str
    join: str
    norm: str
    layer: str
    state_first: bool = False


# of head {k}, counted from 0, after a model of {at} - {k} layers
_FORMS = (
    # DeepSeek-V3, GLM-4.5
    HeadNames(
        "layers.{at}.enorm", "layers.{at}.hnorm", "layers.{at}.eh_proj", "layers.{at}.shared_head.norm", "layers.{at}"
    ),
    # MiMo
    HeadNames(
        "mtp_layers.{k}.token_layernorm",
        "mtp_layers.{k}.hidden_layernorm",
        "mtp_layers.{k}.input_proj",
        "mtp_layers.{k}.final_layernorm",
        "mtp_layers.{k}",
        state_first=True,
    ),
    # Qwen3-Next, Mellum: one
    HeadNames("mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden", "mtp.fc", "mtp.norm", "mtp.layers.0"),
)


def heads_in(names: Collection[str], layers: int) -> list[HeadNames]:
    """The heads among a checkpoint's weights.

    Args:
        names: without "model.". layers: of the model itself.
    """
    for form in _FORMS:
        found = list[HeadNames]()
        while len(found) < (layers if "{" in form.join else 1):
            at = {"k": len(found), "at": layers + len(found)}
            head = HeadNames._make([*(part.format(**at) for part in form[:5]), form.state_first])
            if f"{head.join}.weight" not in names:
                break
            found.append(head)
        if found:
            return found
    return []


def has_heads(config: Mapping[str, Any]) -> bool:
    """Whether a config.json says that its checkpoint has such heads."""
    text = config.get("text_config") or config
    return any(text.get(key) for key in _COUNTS)
