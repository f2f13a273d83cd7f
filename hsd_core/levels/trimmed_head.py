"""A trimmed head: a draft's last states read by some rows of the model's own head alone (VocabTrim, arXiv 2506.22694).

The head of a model with a large vocabulary is much of what a shallow draft reads: at an eighth of the layers of a Llama
of 1B two thirds. What it hands up is a distribution over all tokens, with none of its mass on those left out, so that
every exact rule stays exact; a token that the draft cannot say comes as a correction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, Positions
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.lean.linear import Head
from hsd_core.models.one_pass import Pass


def first_ids(count: int, ends: Collection[int], never: Collection[int] = ()) -> list[int]:
    """The first ids, which byte-pair encodings give to what they merge first, and those that end a text."""
    return sorted({*range(count), *ends} - {*never})


class TrimmedHead:
    """The model's own last norm and these rows of its head, at whatever depth; a `Readout` without a memory.

    Args:
        decoder: a `Layered` whose head's rows can be read. ids: of its vocabulary, at least one.
    """

    name, layers = "lens", 0

    def __init__(self, decoder: Any, ids: Sequence[int]) -> None:
        self._norm, self._eps, self._size = decoder.last_norm, decoder.shape.norm_eps, decoder.vocab_size
        self.ids = torch.tensor([id_ for id_ in ids if id_ < self._size], device=decoder.device)
        self._head = Head(decoder.head_rows(self.ids), computes_in(decoder.dtype, decoder.device))

    def new_cache(self, capacity: int) -> Positions:
        """It remembers nothing."""
        return Positions()

    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. Logits are -inf for the ids that are left out."""
        read = F.rms_norm(x[len(x) - given.wanted :], self._norm.shape, self._norm, self._eps)
        logits = read.new_full((len(read), self._size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(read)
        return logits, x

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: Cache) -> None:
        """It copies nothing."""

    def weight_bytes(self) -> int:
        """That a pass reads."""
        return self._head.nbytes
