"""A drafter that reads the target's state at one position and the token of the next: EAGLE-3's, heads for MTP.

The first token of a text has no state before it and is no input: the layers' slot t holds the token of position t + 1.
Where there is no state of the target yet, its own state of the position before is read in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hsd_core.models.cache import Cache, own
from hsd_core.models.one_pass import Branches, Pass


@dataclass(slots=True)
class LaterCache:
    """A cache of the layers, for every position but the first. begun: 1 once the first position is passed."""

    layers: Cache
    begun: int = 0

    @property
    def length(self) -> int:
        """See `Cache`."""
        return self.layers.length + self.begun

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        self.layers.cut(max(0, length - 1))
        self.begun = min(self.begun, length)

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`."""
        self.layers.keep(base - 1, path)

    def mark(self) -> int:
        """See `Cache.mark`."""
        return self.length

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        assert isinstance(mark, int)
        self.cut(mark)


class FedDraft:
    """A `TrainedDraft` over such pairs; a subclass has the layers."""

    at, fed, ahead, window = 0, True, 1, 0
    unknown: Tensor | None = None
    vocab_size: int
    feeds_normal = True  # its state that is read in place of the target's is the one after its last norm

    def states(self, given: Pass, x: Tensor, fed: Tensor, cache: Cache) -> Tensor:
        """(n, hidden) states after its layers.

        Args:
            given: by the layers' slots. x: (n, hidden) embeddings. fed: (n, hidden) states one position before.
        """
        raise NotImplementedError

    def normal(self, states: Tensor) -> Tensor:
        """The states after its last norm."""
        raise NotImplementedError

    def logits(self, normal: Tensor) -> Tensor:
        """(n, V) float32 logits of normalised states."""
        raise NotImplementedError

    @torch.inference_mode()
    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `TrainedDraft.forward`. The row of a text's first token is what its layers say of it alone."""
        kept = own(cache, LaterCache)
        assert fed is not None
        passed = []
        if not given.start:
            passed.append(self.states(Pass(given.ids[:1]), x[:1], fed[:1], kept.layers))
            kept.layers.cut(0)
            kept.begun, x, fed = 1, x[1:], fed[1:]
        if len(x):
            sees = given.sees and Branches(given.sees.base - 1, given.sees.parents)
            rest = Pass(given.ids[-len(x) :], max(0, given.start - 1), given.wanted, sees)
            passed.append(self.states(rest, x, fed, kept.layers))
        states = passed[0] if len(passed) == 1 else torch.cat(passed)
        normal = self.normal(states)
        return self.logits(normal[len(normal) - given.wanted :]), normal if self.feeds_normal else states

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: Cache) -> None:
        """It copies nothing."""
