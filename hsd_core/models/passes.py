"""What one forward is given: ids, where their keys and values go, and what each of them sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


def path_to(node: int, parents: Sequence[int]) -> list[int]:
    """The nodes of a tree from the first level down to one; none for -1, the end of the context."""
    path: list[int] = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


@dataclass(frozen=True, slots=True)
class Branches:
    """Inputs that form a tree behind the first `base` positions.

    parents: node -> its parent, -1 for the end of the context. Node j has slot base + j of the cache, the position that
    its depth gives it, and sees the context, its ancestors and itself.
    """

    base: int
    parents: tuple[int, ...]

    def positions(self, start: int, end: int) -> Tensor:
        """(end - start,) positions of the inputs in these slots."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
        places = [*range(self.base), *(self.base + depth for depth in depths)]
        return torch.tensor(places[start:end])

    def hidden(self, start: int, end: int) -> Tensor:
        """(end - start, end) bool: the slots that each input must not see."""
        n = len(self.parents)
        sees = torch.eye(n, dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                sees[node] |= sees[parent]
        hidden = torch.ones(end - start, end, dtype=torch.bool).triu_(start + 1)
        first = max(start, self.base)
        hidden[first - start :, self.base :] = ~sees[first - self.base : end - self.base, : end - self.base]
        return hidden


@dataclass(frozen=True, slots=True)
class Pass:
    """Some inputs of one sequence, or one input of each of several.

    ids: (n,). start: the slot of the first one, the next ones following it. rows: how many of the last inputs' logits
    are wanted. branches: how inputs behind a chain hang together. slots: (n,) of several sequences, the slot of each
    one's input in its own part of the cache; all rows are wanted then.
    """

    ids: Sequence[int]
    start: int = 0
    rows: int = 1
    branches: Branches | None = None
    slots: tuple[int, ...] | None = None

    @property
    def end(self) -> int:
        """The first slot behind them."""
        return self.start + len(self.ids) if self.slots is None else max(self.slots) + 1
