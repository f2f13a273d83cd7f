"""A decoder whose logits are -inf for some ids: those that mean other tokens in the target's tokenizer.

They are masked before anything is drawn, so a row is a distribution over the other ids; tokens are drawn from it and
judged by it, so exact rules stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hsd_core.levels.self_draft import Grouped
from hsd_core.levels.trunk import Layered, Prepared
from hsd_core.models import Decoder
from hsd_core.models.cache import Cache
from hsd_core.models.one_pass import Pass


class MaskedDecoder:
    """A decoder without the ids `never`; at least one id stays.

    It runs layer by layer, and prepares its passes, if the wrapped decoder does.
    """

    def __init__(self, decoder: Decoder, never: Sequence[int]) -> None:
        self._decoder, self.vocab_size = decoder, decoder.vocab_size
        self.layers, self.max_positions = decoder.layers, decoder.max_positions
        self.device, self.dtype = decoder.device, decoder.dtype
        self.new_cache, self.cache_bytes = decoder.new_cache, decoder.cache_bytes
        self.weight_bytes = decoder.weight_bytes
        self._never = torch.tensor(sorted(never), device=decoder.device)
        if isinstance(decoder, Layered):  # isinstance(self, Layered) looks at attributes of its own
            self.shape, self.embed, self.forward_layers = decoder.shape, decoder.embed, decoder.forward_layers
            self.head = self._head
        if isinstance(decoder, Grouped):
            self.in_groups = decoder.in_groups
        if isinstance(decoder, Prepared):
            self.prepare = decoder.prepare

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_decoder"], name)

    @torch.inference_mode()
    def forward(self, given: Pass, cache: Cache) -> Tensor:
        """See `Decoder.forward`."""
        return self._masked(self._decoder.forward(given, cache))

    @torch.inference_mode()
    def _head(self, x: Tensor) -> Tensor:
        assert isinstance(self._decoder, Layered)
        return self._masked(self._decoder.head(x))

    def _masked(self, logits: Tensor) -> Tensor:
        return logits.index_fill_(-1, self._never, float("-inf"))
