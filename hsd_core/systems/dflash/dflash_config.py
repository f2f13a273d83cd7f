"""What a DFlash drafter's config.json says, in the form of any of its writers. Imports no torch.

z-lab, SpecForge      the sizes of its layers, and `dflash_config`; layers are counted by their outputs, from 0
speculators (vLLM)    `transformer_layer_config`, `aux_hidden_state_layer_ids`, counted from the embeddings, a
                      vocabulary of its own (`draft_vocab_size`), and windows that begin at the block's first position
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.models.drafts.speculators import layers_of


class DFlashError(ValueError):
    """A config that is not of a DFlash drafter that can be opened here; the message has the reason and the cure."""


@dataclass(frozen=True, slots=True)
class DFlashConfig:
    """
    Attributes:
        layers: the config of its layers, as of a whole model. depths: after how many of the target's layers the states
            are recorded that it reads. block: its inputs. mask: the id of those that are not known.
        windows: of each layer, how far before a position it attends, 0 for all.
        from_first: windows are counted from the block's first position, and hide no position of the block; else from
            each position, to both sides.
        causal: in layers with a window a position of the block sees only earlier ones.
    """

    layers: Mapping[str, Any]
    depths: tuple[int, ...]
    block: int
    mask: int
    windows: tuple[int, ...] = ()
    from_first: bool = False
    causal: bool = False

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> DFlashConfig:
        """
        Raises:
            DFlashError: it is of another drafter, or of a variant.
        """
        if not is_dflash(config):
            raise DFlashError("its config.json is not of a DFlash drafter")
        given = "speculators_model_type" in config
        own: Mapping[str, Any] = config if given else config["dflash_config"]
        attention = {own.get("attention_mode", "gqa"), *own.get("attention_modes", ())} - {"gqa", "mha"}
        other = own.get("projector_type", "dflash") != "dflash" or own.get("sample_from_anchor")
        if attention or other or (own.get("causal") and not given):
            raise DFlashError("it is a variant of DFlash with another attention or head, which is not read here")
        ids = "aux_hidden_state_layer_ids" if given else "target_layer_ids"
        if lacking := [name for name in ("mask_token_id", ids) if own.get(name) is None]:
            raise DFlashError(f"its config lacks {lacking[0]!r}; fetch it again")
        layers = layers_of(config, "qwen3")
        return cls(
            layers=layers,
            depths=tuple(int(at) + (not given) for at in own[ids]),
            block=int(config.get("block_size") or own.get("block_size") or 16),
            mask=int(own["mask_token_id"]),
            windows=_windows(layers),
            from_first=given,
            causal=given and own.get("sliding_window_non_causal") is False,
        )


def is_dflash(config: Mapping[str, Any]) -> bool:
    """Whether a config.json is of a DFlash drafter."""
    if (kind := config.get("speculators_model_type")) is not None:
        return bool(kind == "dflash")
    return "DFlashDraftModel" in (config.get("architectures") or ()) and isinstance(config.get("dflash_config"), dict)


def _windows(layers: Mapping[str, Any]) -> tuple[int, ...]:
    window = layers.get("use_sliding_window") is not False and layers.get("sliding_window")
    return tuple(int(window or 0) * (kind == "sliding_attention") for kind in layers.get("layer_types") or ())
