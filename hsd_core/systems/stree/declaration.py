"""A draft with running states, over chains and trees (STree): a form of nano draft, named by @id=, not a new level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_core.models.drafts.draft_file import NORMS, PRODUCTS, DraftForm, DraftInfo, named

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.systems.stree.state_draft import StateDraft

OWN = ("conv", "step_bias", "decay", "skip", "state_norm")  # of a layer, float32


def tensors(info: DraftInfo) -> set[str]:
    layers = (named(f"layers.{i}.", (*PRODUCTS, "step"), (*NORMS, *OWN)) for i in range(info.layers))
    return named("", ("read",), ("norm",)).union(*layers)


def sound(info: DraftInfo) -> bool:
    return not (info.at or info.fed or info.window or info.gated or info.ahead > 1)


def open_states(info: DraftInfo, given: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> StateDraft:
    from hsd_core.systems.stree.state_draft import StateDraft

    return StateDraft(info, given, decoder)


DRAFT_FORMS = (DraftForm(lambda info: info.states, tensors, open_states, sound),)
