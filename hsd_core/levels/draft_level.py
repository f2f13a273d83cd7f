"""The level of a trained draft over the target's token embeddings; it runs none of the target's layers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hsd_core.core.level import LevelRun
from hsd_core.levels.draft_run import DraftRun, Embeds, OpensRun, TrainedDraft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, Layered
from hsd_core.models.decoder_protocol import Recording


class DraftLevel(OverDecoder):
    """`draft` over the embeddings of `decoder`, the target's.

    name: of its kind. label: for readers. embeds: the embeddings, if they are not the decoder's. more: parameters of
    the draft's own for the trace.
    """

    def __init__(
        self,
        decoder: Layered | Recording,
        draft: TrainedDraft,
        *,
        name: str,
        label: str,
        weights: dict[str, object] | None = None,
        embeds: Embeds | None = None,
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        params: dict[str, object] = {"readout": draft.name, "layers": draft.layers, "fed": draft.fed}
        if draft.joined:
            params["joins"] = ".".join(map(str, draft.joined))
        named, fed = {"name": name, "kind": name, "label": label}, draft.fed or bool(draft.window)
        super().__init__(decoder, **named, layers=0, params={**params, **more}, weights=weights, fed=fed)
        self.decoder, self.draft, self._embeds = decoder, draft, embeds or decoder

    def enter(self, shared: SharedState) -> Features | None:
        """The trunk whose last states, or keys and values, it reads; None if it shares nothing."""
        return shared.features(self.draft.joined)[0] if self.about.fed else None

    def open(self, capacity: int, shared: SharedState) -> LevelRun:
        if isinstance(self.draft, OpensRun):
            return self.draft.open_run(shared, self.name)
        features = shared.features(self.draft.joined) if self.about.fed else ()
        return DraftRun(self._embeds, self.draft, features, capacity + shared.branches, self.name)
