"""Sublayers: the attention and the MLP of every layer, and a pass that leaves some of them out.

What is left out is the identity: the residual goes on (Draft & Verify, arXiv 2309.08168, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

ATTENTION, MLP = "attention", "mlp"
BOTH = (ATTENTION, MLP)  # of a layer, in the order in which they run


class Sublayers(NamedTuple):
    """Some of a model's sublayers, by their layers, which count from 0."""

    attention: frozenset[int] = frozenset()
    mlp: frozenset[int] = frozenset()

    @classmethod
    def of(cls, some: Iterable[tuple[str, int]]) -> Sublayers:
        """Those of (kind, layer)."""
        found = set(some)
        return cls(*(frozenset(layer for kind, layer in found if kind == one) for one in BOTH))

    def named(self) -> Iterator[tuple[str, int]]:
        """(kind, layer) of each."""
        for kind, layers in zip(BOTH, self, strict=True):
            yield from ((kind, layer) for layer in sorted(layers))

    @property
    def size(self) -> int:
        return len(self.attention) + len(self.mlp)


NONE = Sublayers()
