"""Nano: a small trained drafter over the target's token embeddings; it runs none of the target's layers."""

from __future__ import annotations

from hsd_core.core.level import LevelRun
from hsd_core.levels.draft_run import DraftRun, OpensRun, TrainedDraft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk


class NanoLevel(OverDecoder):
    """`draft` over the embeddings of `decoder`, the target's."""

    def __init__(self, decoder: Layered, draft: TrainedDraft, *, weights: dict[str, object] | None = None) -> None:
        window = draft.window
        label = "nano" + (", fed by the target" if draft.fed else f", window of {window}" if window else "")
        params: dict[str, object] = {"readout": draft.name, "layers": draft.layers, "fed": draft.fed}
        if draft.joined:
            params["joins"] = ".".join(map(str, draft.joined))
        if draft.ahead > 1:
            label, params["ahead"] = f"{label}, {draft.ahead} tokens a pass", draft.ahead
        if window:
            params["window"] = window
        if threads := getattr(draft, "threads", None):
            params["threads"] = threads  # chosen on this machine
        named, fed = {"name": "nano", "kind": "nano", "label": label}, draft.fed or bool(window)
        super().__init__(decoder, **named, layers=0, params=params, weights=weights, fed=fed)
        self.decoder, self.draft = decoder, draft

    def enter(self, shared: SharedState) -> Trunk | None:
        """The trunk whose last states, or keys and values, it reads; None if it shares nothing."""
        return shared.features(self.draft.joined)[0] if self.about.fed else None

    def open(self, capacity: int, shared: SharedState) -> LevelRun:
        if isinstance(self.draft, OpensRun):
            return self.draft.open_run(shared, self.name)
        features = shared.features(self.draft.joined) if self.about.fed else ()
        return DraftRun(self.decoder, self.draft, features, capacity + shared.branches, self.name)
