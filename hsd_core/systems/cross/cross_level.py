"""A draft model with another tokenizer: it drafts in its own tokens and hands up the target's tokens for the same text.

TokenTiming (arXiv 2510.15545) tokenizes the draft's text with the target's tokenizer and aligns both by dynamic time
warping. A retokenized token was not drawn from any row, so it goes up as named and is accepted with the target's
probability; carrying the draft's probability over to it would not be exact. A draft that is restricted to tokens of
both vocabularies (arXiv 2502.05202) draws them from its row over these, and they go up as drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.systems.cross.cross_run import CrossRun, Pairs
from hsd_core.systems.cross.retokenizing import Retokenizer, Vocabulary

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.levels.trunk import Trunk

TEXT, SHARED = "text", "shared"
_SAMPLE = "A level drafts a few words, and the one above it keeps those that it would have written: 1, 2, 3."
_SPARE = 1.5  # draft tokens of a text, in multiples of what the sample needs
_LEAST = 64


class CrossLevel:
    """`inner` is the draft model over the vocabulary `own`; `size`: width of the target's rows. Read-only.

    It only drafts: a verifier needs a row over the target's vocabulary behind every token.
    """

    can_verify, has_cache = False, True
    max_positions: int | None = None  # it drafts nothing for a text that is longer than the draft model's context

    def __init__(
        self, inner: Level, own: Vocabulary, target: Vocabulary, size: int, *, map_: str = TEXT, name: str = "cross"
    ) -> None:
        """
        Raises:
            ValueError: `map_` is "shared", and the vocabularies share no token.
        """
        self.inner, self.vocab_size = inner, size
        self.name = name
        self.decoder: Any = getattr(inner, "decoder", None)  # what its memory is counted by
        self._retokenizer = Retokenizer(own, target)
        self._pairs = _pairs(self._retokenizer.shared, inner.vocab_size, size) if map_ == SHARED else None
        self._ratio = len(own.within(_SAMPLE)) / max(1, len(target.within(_SAMPLE)))
        shared = {} if self._pairs is None else {"shared": len(self._pairs.own)}
        params: dict[str, object] = {"map": map_, "vocabulary": inner.vocab_size, **shared}
        self.about = replace(inner.about, kind=name, params=params, sequences=1, probes=0, fed=False)

    def room(self, capacity: int) -> int:
        """How many draft ids its cache can hold for a context of `capacity` target ids."""
        room = math.ceil(_SPARE * max(1.0, self._ratio) * capacity) + _LEAST
        return min(room, self.inner.max_positions or room)

    def _state(self, shared: SharedState) -> SharedState:
        """The draft model shares nothing with the levels above."""
        return SharedState(self.room(shared.capacity), 0, self.inner.max_positions)

    def enter(self, shared: SharedState) -> Trunk | None:
        return self.inner.enter(self._state(shared)) if isinstance(self.inner, Sharing) else None

    def open(self, capacity: int, shared: SharedState) -> CrossRun:
        own = self._state(shared)
        run = self.inner.open(own.capacity, own)
        own.prepare()
        return CrossRun(run, self._retokenizer, own.capacity, self.name, self.vocab_size, self._pairs)


def _pairs(shared: dict[int, int], own: int, target: int) -> Pairs:
    both = [(mine, theirs) for theirs, mine in shared.items() if mine < own and theirs < target]
    if not both:
        raise ValueError("the two vocabularies share no token; leave @map=shared out")
    mine, theirs = _tensor([m for m, _ in both]), _tensor([t for _, t in both])
    return Pairs(mine, theirs, target)


def _tensor(ids: Sequence[int]) -> torch.Tensor:
    return torch.tensor(ids)
