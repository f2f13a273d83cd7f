"""The selection of a base cache's positions that a view holds: chosen once, between two rounds, and then frozen.

`Stream`: the first positions and the last ones (StreamingLLM, arXiv 2309.17453). `Chunks`: those with the highest
attention from the prompt's last token (TriForce, arXiv 2404.11912, section 4.1). Positions that the base's level
verifies later are always held: they take empty slots first, then those chosen last, then their own oldest ones.

Names: L layers, H query heads, G key/value heads, d head size, m slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.models.gpu.transfer import sent


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selected positions among the first `origin` of the base.

    at: (L, G, m) the position in each slot. order: the slots in the order in which later positions take them,
    cyclically; empty slots, from m on, come first.
    """

    at: Tensor
    order: tuple[int, ...]
    origin: int

    def position(self, slot: int, place: int, newcomers: int) -> int | None:
        """The position behind `origin` that a slot (at index `place` of the order) holds after so many later positions;
        None if it still holds a selected one, or nothing."""
        rounds = (newcomers - 1 - place) // len(self.order)
        return self.origin + place + rounds * len(self.order) if rounds >= 0 else None


class Select(Protocol):
    """Selects at most `budget` positions. asks: whether it needs the next token's queries."""

    @property
    def budget(self) -> int: ...

    @property
    def asks(self) -> bool: ...

    def choose(self, keys: Tensor, queries: Tensor | None) -> Chosen:
        """
        Args:
            keys: (L, G, n, d), rotated, of all positions so far. queries: (L, H, d), rotated; None if not `asks`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Stream:
    """The first `sink` positions and the last ones.

    Raises:
        ValueError: the budget has no room for recent positions.
    """

    budget: int
    sink: int = 16
    asks: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.sink < self.budget:
            raise ValueError(
                f"{self.sink} first positions leave nothing of {self.budget} slots for recent ones; "
                "give a larger budget or a smaller sink"
            )

    def choose(self, keys: Tensor, queries: Tensor | None = None) -> Chosen:
        """See `Select.choose`."""
        n = keys.shape[2]
        if n <= self.budget:
            return _whole(keys, self.budget, self.sink)
        recent = range(n - self.budget + self.sink, n)
        at = sent([*range(self.sink), *recent], keys.device)
        return Chosen(at.expand(*keys.shape[:2], -1), tuple(range(self.sink, self.budget)), n)


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of positions whose mean key scores highest with the query, in each layer and key head.

    The first chunk is always selected, and so are the last positions that fill no chunk. Of the query heads that share
    a key head, the highest score counts.

    Raises:
        ValueError: the budget has no room for two chunks.
    """

    budget: int
    chunk: int = 8
    asks: bool = True

    def __post_init__(self) -> None:
        if self.chunk < 1 or self.budget < 2 * self.chunk:
            raise ValueError(
                f"a budget of {self.budget} slots holds fewer than two chunks of {self.chunk}; give a larger budget or "
                "a smaller chunk"
            )

    def choose(self, keys: Tensor, queries: Tensor | None) -> Chosen:
        """See `Select.choose`."""
        layers, heads, n, size = keys.shape
        if n <= self.budget:
            return _whole(keys, self.budget, self.chunk)
        assert queries is not None, "chunks are chosen by a query"
        count = n // self.chunk
        rest = n - count * self.chunk
        wanted = (self.budget - rest) // self.chunk
        means = keys[:, :, : count * self.chunk].reshape(layers, heads, count, self.chunk, size).mean(3)
        asked = queries.reshape(layers, heads, -1, size).to(means.dtype)
        scores = (asked @ means.transpose(2, 3)).amax(2)  # (L, G, chunks)
        scores[..., 0] = float("inf")
        best = scores.topk(wanted, dim=-1).indices  # falling
        at = (best[..., None] * self.chunk + torch.arange(self.chunk, device=keys.device)).flatten(2)
        last = torch.arange(n - rest, n, device=keys.device).expand(layers, heads, rest)
        held = wanted * self.chunk + rest
        empty, chosen = range(held, self.budget), range(wanted * self.chunk - 1, self.chunk - 1, -1)
        order = (*empty, *chosen, *range(wanted * self.chunk, held))
        return Chosen(torch.cat((at, last), 2), order, n)


def _whole(keys: Tensor, budget: int, first: int) -> Chosen:
    """All positions in order; when later ones no longer fit, the oldest are replaced, except the first ones."""
    n = keys.shape[2]
    at = torch.arange(n, device=keys.device).expand(*keys.shape[:2], -1)
    return Chosen(at, (*range(n, budget), *range(min(first, n), n)), n)
