"""What one level hands to the next: a tree of tokens. A chain is the simplest tree.

A *fork* is a node with children, or the end of the context (written -1). Its children are its *offers*: *drawn* from a
row of the drafter, or *named* without a distribution (a lookup, a beam). Only the path that a verifier keeps becomes
part of the context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from hsd_core.core.events import How
from hsd_core.models.one_pass import path_to
from hsd_core.models.sampling import Logits


@dataclass(frozen=True, slots=True)
class Token:
    """A drafted or drawn token: its serial in this run, its id, the level that made it, and how."""

    serial: int
    id: int
    level: int
    how: How
    source: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A child of a fork; offers are listed in judging order.

    node: the child's index. row: the index of the row that it was drawn from; None for a named child.
    """

    node: int
    row: int | None = None


class Probes(NamedTuple):
    """Tokens that a pass computes together with a tree but does not judge; the verifier's likeliest token after each
    goes back to the drafter.

    parents: the index of each probe's parent among them, -1 after the context; a parent comes before its children.
    read: the probes whose result the drafter reads; None: all.
    """

    ids: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    read: tuple[int, ...] | None = None


NO_PROBES = Probes()


@dataclass(frozen=True)
class Tree:
    """n tokens, a parent before its children, the likeliest chain first.

    Args:
        tokens: the n nodes. parents: the index of each one's parent, -1 after the context; None for a chain.
        rows: (r, V) the distributions that tokens were drawn from, each before any sibling was removed; None if all
            tokens are named, or drawn greedily (their rows are one-hot).
        logits: (r, V) of those rows, before the sampling transform; behind those of a verified chain others may follow.
        offered: in judging order, a fork's drawn offers before its named ones. None: every node is offered once, node t
            of a chain drawn from row t.
        repeats: siblings were drawn with replacement, so that a node may be offered twice.
        probes: tokens that the same pass computes; not part of the tree.
        unread: nodes whose rows are not read: a scorer may leave them at zero.
    """

    tokens: Sequence[Token] = ()
    rows: Tensor | None = None
    logits: Logits | None = None
    parents: tuple[int, ...] | None = None
    offered: tuple[Offer, ...] | None = None
    repeats: bool = False
    probes: Probes = NO_PROBES
    unread: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def is_chain(self) -> bool:
        return self.parents is None

    @cached_property
    def ids(self) -> list[int]:
        return [token.id for token in self.tokens]

    @property
    def lineage(self) -> tuple[int, ...]:
        """The parent of every node, for a chain too."""
        return tuple(range(-1, len(self) - 1)) if self.parents is None else self.parents

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """All offers in judging order."""
        drawn = self.rows is not None or self.logits is not None
        return self.offered or tuple(Offer(node, node if drawn else None) for node in range(len(self)))

    @cached_property
    def forks(self) -> dict[int, list[int]]:
        """Fork -> the indices of its offers in judging order."""
        if self.is_chain and self.offered is None:
            return {node - 1: [node] for node in range(len(self))}
        parents, found = self.lineage, dict[int, list[int]]()
        for o, offer in enumerate(self.offers):
            found.setdefault(parents[offer.node], []).append(o)
        return found

    def branches(self) -> list[list[int]]:
        """The path to every leaf."""
        inner = set(self.lineage)
        return [path_to(node, self.lineage) for node in range(len(self)) if node not in inner]

    @property
    def longest(self) -> int:
        """The length of the longest path: the most tokens that can be kept."""
        return len(self) if self.is_chain else max(len(branch) for branch in self.branches())

    def inner(self) -> tuple[Tree, dict[int, int]]:
        """The tree without its leaves, and the index of each inner node in it (-1: the end of the context)."""
        if self.parents is None:
            return Tree(self.tokens[:-1]), {node: node for node in range(-1, len(self) - 1)}
        keep = sorted(set(self.parents) - {-1})
        places = {-1: -1, **{node: place for place, node in enumerate(keep)}}
        parents = tuple(places[self.parents[node]] for node in keep)
        return Tree([self.tokens[node] for node in keep], parents=parents), places

    def with_probes(self, probes: Probes) -> Tree:
        """The tree with its probes as the last nodes: what one pass scores."""
        if not probes.ids:
            return self
        n = len(self)
        parents = (*self.lineage, *(parent + n if parent >= 0 else -1 for parent in probes.parents))
        read = range(len(probes.ids)) if probes.read is None else probes.read
        unread = frozenset(range(n, n + len(probes.ids))).difference(n + probe for probe in read)
        return Tree([*self.tokens, *(_named(id_) for id_ in probes.ids)], parents=parents, unread=unread)

    def cut(self, length: int) -> Tree:
        """The first `length` tokens of a chain."""
        rows = None if self.rows is None else self.rows[:length]
        logits = None if self.logits is None else self.logits[:length]
        return replace(self, tokens=self.tokens[:length], rows=rows, logits=logits)


NOTHING = Tree()


def joined(chains: Sequence[Tree]) -> Tree:
    """Chains of drawn tokens, one after another, without their logits."""
    rows = [chain.rows for chain in chains if chain.rows is not None]
    assert len(rows) in (0, len(chains)), "of the chains all have rows, or none has"
    whole = torch.cat(rows) if len(rows) > 1 else rows[0] if rows else None
    return Tree([token for chain in chains for token in chain.tokens], whole)


def named(ids: Sequence[int]) -> Tree:
    """A chain of tokens without a drafter, for a scorer."""
    return Tree([_named(id_) for id_ in ids])


def _named(id_: int) -> Token:
    return Token(-1, id_, -1, "draft", "")
