"""A decoder whose logits have no place for some ids: another model's, whose tokenizer means other tokens by them.

They are masked before anything is chosen, so a row is a distribution over the other ids alone, and tokens are drawn
from it and judged by it: exact rules stay exact whatever the drafter's distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hsd_core.levels.trunk import Layered, Prepared
from hsd_core.models import Decoder
from hsd_core.models.cache import Cache
from hsd_core.models.one_pass import Pass


class Sparing:
    """The same decoder, but for the ids that it never says. never: at least one id stays.

    It runs layer by layer, or records its passes ahead, if the decoder itself does.
    """

    def __init__(self, decoder: Decoder, never: Sequence[int]) -> None:
        self._decoder, self.vocab_size = decoder, decoder.vocab_size
        self.layers, self.max_positions = decoder.layers, decoder.max_positions
        self.device, self.dtype = decoder.device, decoder.dtype
        self.new_cache, self.cache_bytes, self.weight_bytes = (
            decoder.new_cache,
            decoder.cache_bytes,
            decoder.weight_bytes,
        )
        self._never = torch.tensor(sorted(never), device=decoder.device)
        if isinstance(decoder, Layered):  # whoever asks whether this one is looks at what it has of its own
            self.shape, self.embed, self.forward_layers = decoder.shape, decoder.embed, decoder.forward_layers
            self.head = self._head
        if isinstance(decoder, Prepared):
            self.prepare = decoder.prepare

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_decoder"], name)

    @torch.inference_mode()
    def forward(self, given: Pass, cache: Cache) -> Tensor:
        """See `Decoder.forward`."""
        return self._spared(self._decoder.forward(given, cache))

    @torch.inference_mode()
    def _head(self, x: Tensor) -> Tensor:
        assert isinstance(self._decoder, Layered)
        return self._spared(self._decoder.head(x))

    def _spared(self, logits: Tensor) -> Tensor:
        return logits.index_fill_(-1, self._never, float("-inf"))
