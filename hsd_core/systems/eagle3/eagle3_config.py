"""What an EAGLE-3 drafter's config.json says, in the form of any of its writers. Imports no torch.

SafeAILab             the sizes of its layer, `draft_vocab_size`; weights `midlayer.*`
SpecForge, AngelSlim  the same, with `eagle_config.eagle_aux_hidden_state_layer_ids`, counted from layer 0's output;
                      EAGLE-3.1 adds `fc_norm` and `norm_output`
speculators (vLLM)    `transformer_layer_config`, `speculators_config`, `norm_before_residual`, `norm_before_fc` and
                      `eagle_aux_hidden_state_layer_ids`, counted from the embeddings; weights `layers.0.*`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.models.drafts.speculators import layers_of

IDS = "eagle_aux_hidden_state_layer_ids"


class Eagle3Error(ValueError):
    """A config that is not of an EAGLE-3 drafter that can be opened here; the message has the reason and the cure."""


@dataclass(frozen=True, slots=True)
class Eagle3Config:
    """
    Attributes:
        layers: the config of its layers, as of a whole model.
        depths: after how many of the target's layers the states are recorded that it reads; () for EAGLE-3's own.
        norm_before_residual: the state that passes its first layer by is the normalised one.
        norm_before_fc: the joined states are normalised, as one vector. norm_each: each of them is, by itself.
        norm_output: the state that is fed on is the one after the last norm, not before it.
    """

    layers: Mapping[str, Any]
    depths: tuple[int, ...]
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    norm_each: bool = False
    norm_output: bool = False

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Eagle3Config:
        """
        Raises:
            Eagle3Error: it is of another drafter, or of one in a form that is not read.
        """
        if not is_eagle3(config):
            raise Eagle3Error("its config.json is not of an EAGLE-3 drafter")
        if config.get("parallel_drafting") or config.get("mask_token_id") is not None:
            raise Eagle3Error("it drafts several tokens in a pass (P-EAGLE), which is not read here")
        own = config.get("eagle_config") or {}
        if own.get("use_aux_hidden_state") is False:
            raise Eagle3Error("it reads the target's last state only (EAGLE-1); name one that reads three")
        counted, first = config.get(IDS), own.get(IDS)
        depths = counted or [int(at) + 1 for at in first or ()]
        return cls(
            layers=layers_of(config, "llama"),
            depths=tuple(int(at) for at in depths),
            norm_before_residual=bool(config.get("norm_before_residual")),
            norm_before_fc=bool(config.get("norm_before_fc")),
            norm_each=bool(config.get("fc_norm")),
            norm_output=bool(config.get("norm_output")),
        )

    def depths_of(self, layers: int) -> tuple[int, ...]:
        """The depths for a target of so many layers: a low, a middle and a high one if the config names none.

        Raises:
            Eagle3Error: the target has no such layer.
        """
        depths = self.depths or (2, layers // 2, layers - 3)
        if not all(1 <= at <= layers for at in depths):
            named = ", ".join(map(str, depths))
            raise Eagle3Error(f"it reads the states after layers {named}, and this target has {layers} layers")
        return depths


def is_eagle3(config: Mapping[str, Any]) -> bool:
    """Whether a config.json is of an EAGLE-3 drafter."""
    if (kind := config.get("speculators_model_type")) is not None:
        return bool(kind == "eagle3")
    named = any("eagle3" in str(one).lower() for one in config.get("architectures") or ())
    # SafeAILab's first ones name the architecture of a whole model
    return named or (config.get("draft_vocab_size") is not None and config.get("num_hidden_layers") == 1)
