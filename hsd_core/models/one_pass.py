"""The inputs of one forward: ids, the slots of their keys and values, and what each of them sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


def path_to(node: int, parents: Sequence[int]) -> list[int]:
    """The nodes of a tree from the root to a node; empty for -1, the end of the context."""
    path: list[int] = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


def in_order(path: Sequence[int]) -> bool:
    """Whether a path is 0, 1, 2, ..., so that keeping it is cutting after it."""
    return not path or path[-1] == len(path) - 1


@dataclass(frozen=True, slots=True)
class Branches:
    """Inputs that form a tree after the first `base` positions.

    parents: node -> its parent, -1 for the end of the context. Node j has slot base + j of the cache, the position of
    its depth, and sees the context, its ancestors and itself.
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
    """The arguments of one forward of a decoder: inputs of one text, or one input of each of several texts.

    ids: (n,). start: the slot of the first one; slots from there on are overwritten. wanted: how many of the last
    inputs are read. sees: the tree that the last inputs form; None: each input sees all before it. slots: (n,) for
    several texts, the slot of each text's input in its part of the cache; all inputs are wanted then. ahead: position
    minus slot, in a view that holds only some positions.
    """

    ids: Sequence[int]
    start: int = 0
    wanted: int = 1
    sees: Branches | None = None
    slots: tuple[int, ...] | None = None
    ahead: int = 0

    @property
    def end(self) -> int:
        """The first slot after the inputs."""
        return self.start + len(self.ids) if self.slots is None else max(self.slots) + 1

    @property
    def tree(self) -> Branches | None:
        """The tree, if some of these inputs are its nodes."""
        return None if self.sees is None or self.end <= self.sees.base else self.sees

    def positions(self) -> Tensor:
        """(n,) positions of the inputs, of one text."""
        tree = self.tree
        slots = torch.arange(self.start, self.end) if tree is None else tree.positions(self.start, self.end)
        return slots + self.ahead

    def part(self, lo: int, hi: int) -> Pass:
        """Inputs lo to hi - 1, and how many of them are wanted."""
        n = len(self.ids)
        hi = min(hi, n)
        wanted = max(0, self.wanted - (n - hi))
        return Pass(self.ids[lo:hi], self.start + lo, min(wanted, hi - lo), self.sees, ahead=self.ahead)

    def parts(self, size: int) -> list[Pass]:
        """The pass in parts of at most `size` inputs."""
        if len(self.ids) <= size:
            return [self]
        return [self.part(lo, lo + size) for lo in range(0, len(self.ids), size)]
