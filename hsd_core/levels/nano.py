"""Nano: a small trained drafter over the target's token embeddings, without one of its layers."""

from __future__ import annotations

from hsd_core.levels.draft_run import DraftRun, TrainedDraft
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk


class NanoLevel:
    """`draft` over the embeddings of `decoder`, the target's."""

    kind = "nano"
    can_draft = True
    can_verify = True
    has_cache = True

    def __init__(
        self,
        decoder: Layered,
        draft: TrainedDraft,
        *,
        name: str = "nano",
        label: str = "",
        weights: dict[str, object] | None = None,
    ) -> None:
        self.decoder, self.draft = decoder, draft
        self.name, self.weights = name, weights
        self.label = label or "nano" + (", fed by the target" if draft.fed else "")
        self.vocab_size = decoder.vocab_size
        self.max_positions: int | None = decoder.max_positions
        self.layers: int | None = 0
        self.device, self.dtype = decoder.device, decoder.dtype
        self.params: dict[str, object] = {"readout": draft.name, "layers": draft.layers, "fed": draft.fed}

    def enter(self, shared: SharedState) -> Trunk | None:
        """The trunk whose last states it reads; without features it shares nothing with anyone."""
        return shared.features()[0] if self.draft.fed else None

    def open(self, capacity: int, shared: SharedState) -> DraftRun:
        features = shared.features() if self.draft.fed else ()
        return DraftRun(self.decoder, self.draft, features, capacity + shared.branches, self.name)
