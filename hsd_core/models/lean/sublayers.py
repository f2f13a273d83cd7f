"""Sublayers: the attention and the MLP of every layer, passes that leave some of them out, and layers in groups.

An omitted sublayer is the identity on the residual (Draft & Verify, arXiv 2309.08168, section 3.1).

The attentions of a group run at once on the same input x (EasySpec, arXiv 2502.02493); then x += a_1, MLP_1, x += a_2,
MLP_2, ... So each attention misses what the others of its group would have added, and keys and values after the first
group are *fuzzy*: close to those of the layers in order. The first and the last layer are groups of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

ATTENTION, MLP = "attention", "mlp"
BOTH = (ATTENTION, MLP)  # of a layer, in the order in which they run


class Sublayers(NamedTuple):
    """Some of a model's sublayers, as indices of layers."""

    attention: frozenset[int] = frozenset()
    mlp: frozenset[int] = frozenset()

    @classmethod
    def of(cls, some: Iterable[tuple[str, int]]) -> Sublayers:
        """From pairs (kind, layer)."""
        found = set(some)
        return cls(*(frozenset(layer for kind, layer in found if kind == one) for one in BOTH))

    def named(self) -> Iterator[tuple[str, int]]:
        """Pairs (kind, layer)."""
        for kind, layers in zip(BOTH, self, strict=True):
            yield from ((kind, layer) for layer in sorted(layers))

    @property
    def size(self) -> int:
        return len(self.attention) + len(self.mlp)


NONE = Sublayers()


def groups(lo: int, hi: int, layers: int, together: int) -> list[range]:
    """Layers lo to hi - 1 of `layers`, in groups of at most `together`."""
    inner = range(max(lo, 1), min(hi, layers - 1))
    first, last = range(lo, min(hi, 1)), range(max(lo, layers - 1), hi)
    inside = [inner[i : i + together] for i in range(0, len(inner), together)]
    return [group for group in (first, *inside, last if layers > 1 else range(0)) if len(group)]
