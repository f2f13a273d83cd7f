"""Looked-up sequences, merged into what a drafter grows: what begins alike is one (RASD, arXiv 2503.03434)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from hsd_core.core.level import DraftOrder
from hsd_core.models.sampling import largest
from hsd_core.models.suffixes import Copied

PRUNE = 8  # of the drafter's likeliest tokens a looked-up sequence has to begin with one


class Found(NamedTuple):
    """A token that may follow, the letter of the database that supplied it, how many tokens its key had, and of D_c
    what it repeats: a position in the text that was inserted."""

    token: int
    letter: str
    key: int
    copied: Copied | None = None


@dataclass(frozen=True, slots=True)
class MergedOrder(DraftOrder):
    """An order with sequences that were looked up and go up with the draft, none going on behind an end."""

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
    """Looked-up sequences from one token on. found: the token; None behind the context."""

    found: Found | None
    children: dict[int, Trie]


def trie_of(sequences: Sequence[Sequence[Found]]) -> Trie:
    """The sequences as one, by their longest common prefixes."""
    root = Trie(None, {})
    for sequence in sequences:
        trie = root
        for found in sequence:
            trie = trie.children.setdefault(found.token, Trie(found, {}))
    return root


def known_behind(trie: Trie | None, logits: Tensor, wide: int, *, pruned: bool) -> tuple[dict[int, Trie], set[int]]:
    """What was looked up behind a fork, pruned by its row, and which of it the drafter would have offered itself.

    Args:
        logits: (V,) behind the fork. wide: how many tokens the drafter offers there.
    """
    if trie is None or not trie.children:
        return {}, set()
    best = largest(logits[None], max(wide, PRUNE))[1][0].tolist()
    kept = {token: child for token, child in trie.children.items() if not pruned or token in best[:PRUNE]}
    return kept, kept.keys() & set(best[:wide])
