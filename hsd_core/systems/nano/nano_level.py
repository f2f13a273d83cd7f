"""Nano: a small trained drafter over the target's token embeddings."""

from __future__ import annotations

from hsd_core.levels.draft_level import DraftLevel
from hsd_core.levels.draft_run import TrainedDraft
from hsd_core.levels.trunk import Layered


class NanoLevel(DraftLevel):
    """A `DraftLevel` whose label and parameters say how the draft was trained."""

    def __init__(self, decoder: Layered, draft: TrainedDraft, *, weights: dict[str, object] | None = None) -> None:
        more: dict[str, object] = {}
        window = draft.window
        label = "nano" + (", fed by the target" if draft.fed else f", window of {window}" if window else "")
        if getattr(draft, "states", False):
            label, more["states"] = f"{label}, running states", True
        if draft.ahead > 1:
            label, more["ahead"] = f"{label}, {draft.ahead} tokens a pass", draft.ahead
        if window:
            more["window"] = window
        if threads := getattr(draft, "threads", None):
            more["threads"] = threads  # chosen on this machine
        super().__init__(decoder, draft, name="nano", label=label, weights=weights, more=more)
