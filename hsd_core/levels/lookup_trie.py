"""Looked-up sequences as a trie, to be merged into a drafter's tree (RASD, arXiv 2503.03434)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from hsd_core.core.level import DraftOrder
from hsd_core.models.sampling import largest
from hsd_core.models.suffixes import Copied

PRUNE = 8  # a looked-up sequence must begin with one of this many likeliest tokens of the drafter


class Found(NamedTuple):
    """A token that may follow, the letter of its database, the length of its key in tokens, and its origin if D_c has
    it: a position in the inserted text."""

    token: int
    letter: str
    key: int
    copied: Copied | None = None


@dataclass(frozen=True, slots=True)
class MergedOrder(DraftOrder):
    """An order with looked-up sequences that go up with the draft, cut at ends of the text."""

    looked_up: Sequence[Sequence[Found]] = ()

    @property
    def branches(self) -> bool:
        """See `DraftOrder.branches`."""
        return bool(self.looked_up) or DraftOrder.branches.__get__(self)


def merging(order: DraftOrder, looked_up: Sequence[Sequence[Found]]) -> MergedOrder:
    """The order with these sequences."""
    return MergedOrder(order.limit, order.sampler, order.stops, order.ends, order.shape, looked_up)


@dataclass(slots=True, eq=False)
class Trie:
    """A node of a trie of looked-up sequences. found: its token; None at the root, the context."""

    found: Found | None
    children: dict[int, Trie]


def trie_of(sequences: Sequence[Sequence[Found]]) -> Trie:
    """The trie of sequences."""
    root = Trie(None, {})
    for sequence in sequences:
        trie = root
        for found in sequence:
            trie = trie.children.setdefault(found.token, Trie(found, {}))
    return root


def known_behind(trie: Trie | None, logits: Tensor, wide: int, *, pruned: bool) -> tuple[dict[int, Trie], set[int]]:
    """The looked-up tokens after a fork, perhaps pruned by its row, and those that the drafter would offer itself.

    Args:
        logits: (V,) after the fork. wide: how many tokens the drafter offers there.
    """
    if trie is None or not trie.children:
        return {}, set()
    best = largest(logits[None], max(wide, PRUNE))[1][0].tolist()
    kept = {token: child for token, child in trie.children.items() if not pruned or token in best[:PRUNE]}
    return kept, kept.keys() & set(best[:wide])
