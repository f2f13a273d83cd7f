"""DFlash as a level: a block of tokens from one pass over the states of the last full pass.

It reads the states of every position that a full pass has reached, and the tokens since, one at least. If a middle
level has written a whole block since then, nothing is drafted.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hsd_core.core.level import Work
from hsd_core.levels.parallel_draft import AheadLevel, AheadRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, nearest
from hsd_core.models import Decoder
from hsd_core.models.cache import KVCache
from hsd_core.models.context import Context
from hsd_core.systems.dflash.dflash_draft import DFlashDraft


class DFlashRun(AheadRun):
    """features: see `DraftRun`."""

    def __init__(self, draft: DFlashDraft, features: Sequence[Features], capacity: int, source: str) -> None:
        self._states: KVCache = draft.new_cache(capacity)
        super().__init__(draft, self._states, draft.vocab_size, source)
        self._flash, self._trunks = draft, features

    def predict(self, context: Context, places: int) -> tuple[Tensor, Work]:
        """See `AheadRun.predict`."""
        trunk, draft, before = nearest(self._trunks), self._flash, self._states.length
        known = min(trunk.valid(trunk.decoder.layers), len(context) - 1)
        tokens = context[known:]
        self.cached = len(context)
        if known < 1 or len(tokens) >= min(draft.block, trunk.decoder.max_positions - known):
            return self.silent
        self._states.cut(known)
        if (read := self._states.length) < known:
            draft.read(torch.cat([trunk.hidden(at, read, known) for at in draft.joined], 1), self._states)
        rows = draft.rows(tokens, self._states)
        return rows[:places], Work(1, draft.block, max(0, known - before))

    def keep(self, start: int, path: Sequence[int]) -> None:
        super().keep(start, path)
        self._states.cut(start)

    def close(self) -> None:
        super().close()
        self._states = self._flash.new_cache(0)


class DFlashLevel(AheadLevel):
    """A drafter over `decoder`, the target's."""

    def __init__(self, decoder: Decoder, draft: DFlashDraft, *, weights: dict[str, object] | None = None) -> None:
        params: dict[str, object] = {"readout": draft.name, "layers": draft.layers, "ahead": draft.ahead}
        params["joins"] = ".".join(map(str, draft.joined))
        label = f"DFlash, {draft.ahead} tokens a pass"
        super().__init__(decoder, draft, "dflash", label, params, weights, draft.joined)
        self._flash = draft

    def open(self, capacity: int, shared: SharedState) -> DFlashRun:
        return DFlashRun(self._flash, shared.features(self._flash.joined), capacity + self._flash.block, self.name)
