"""A draft whose memory does not grow with the text (LongSpec): a form of nano draft, named by @id=, not a new level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_core.models.drafts.draft_file import NORMS, PRODUCTS, DraftForm, DraftInfo, named

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.systems.longspec.windowed import WindowedDraft

CROSS = ("cross_q", "cross_out")  # the layer's products that attend to the target's keys and values


def tensors(info: DraftInfo) -> set[str]:
    return named("", ("read",), ("norm",)) | named("layers.0.", (*PRODUCTS, *CROSS), (*NORMS, "cross_norm"))


def sound(info: DraftInfo) -> bool:
    from hsd_core.models.lean.positions import SINK

    return info.layers == 1 and info.window > SINK and not (info.at or info.fed or info.ahead > 1)


def open_windowed(info: DraftInfo, given: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> WindowedDraft:
    from hsd_core.systems.longspec.windowed import WindowedDraft

    return WindowedDraft(info, given, decoder)


DRAFT_FORMS = (DraftForm(lambda info: info.window > 0, tensors, open_windowed, sound),)
