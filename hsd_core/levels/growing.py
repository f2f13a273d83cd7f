"""Trees of drafts: a drafter offers several tokens after each of its own, by its distribution at every fork.

All nodes of one depth are processed in one forward, each seeing the context and its ancestors (SpecInfer, arXiv
2305.09781; MCSD, arXiv 2401.06706). How many children a fork has, which nodes get any and whether a tree goes deeper
(`tree_shape`) depends on the rows and on tokens drawn before, and no drawn token is dropped: so every offer has the
distribution that the verifier's rule divides by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import IN_LINE, DraftOrder, DrawnFrom, Forks, Proposal, Scorer, Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import Offer
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.levels.lookup_trie import MergedOrder, Trie, known_behind, trie_of
from hsd_core.levels.notes import Copies, Draws, Lookups
from hsd_core.levels.tree_shape import BEFORE, Fork, shape_of
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.one_pass import Branches
from hsd_core.models.sampling import Logits, largest
from hsd_core.models.suffixes import Copied

if TYPE_CHECKING:
    from hsd_core.models.gpu.device_text import Mark


class Grows(Scorer, Protocol):
    """A level's state in a run that can process a tree depth by depth."""

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """Process the last `new` nodes of a tree after the context; with 0, the new part of the context.

        Args:
            ids: (n,) all nodes of the tree so far; earlier calls processed the others.
        Returns:
            (max(1, new), V) logits after them.
        """
        ...


class Names(Protocol):
    """A `Sampler` that names some of the candidates for one place before the others are drawn."""

    def names(self, q: Tensor, wide: int) -> list[int]:
        """The named ones of `wide` candidates, by the (V,) row that the others are drawn from; fewer than `wide`, and
        than have any mass."""
        ...


@dataclass(slots=True, eq=False)
class _Node:
    """A token of the tree. parent: None after the context. row: the index of its row; None if named. key: length of the
    lookup's key, 0 for a token of the drafter. index: among the processed nodes, once it is one. trie: looked-up
    sequences after it. fork: its data for the tree's shape."""

    id: int
    parent: _Node | None
    row: int | None
    source: str
    copied: Copied | None
    key: int = 0
    trie: Trie | None = None
    index: int | None = None
    fork: Fork = BEFORE


def draft(
    run: Grows,
    context: Context,
    order: DraftOrder,
    source: str,
    copied: Callable[..., Copied | None] = lambda *drawn: None,
    mark: Callable[[], Mark | None] = lambda: None,
) -> Proposal:
    """A tree if one is asked for, else a chain. copied: see `draft_tree` (default: the last row); mark: see
    `draft_token_by_token`."""
    if order.branches:
        return draft_tree(run, context, order, source, copied)
    return draft_token_by_token(run, context, order, source, copied, mark)


def draft_tree(
    run: Grows,
    context: Context,
    order: DraftOrder,
    source: str,
    copied: Callable[[int, int], Copied | None] = lambda token, row: None,
) -> Proposal:
    """A tree of `order.shape`, one forward a depth; looked-up tokens (`MergedOrder`) are named.

    Processed nodes are numbered first, in the order of their slots, then the others: so a verifier that shares the
    drafter's states continues from them, and leaves can be left out without renumbering.

    Looked-up sequences are merged by their longest common prefix (RASD, arXiv 2503.03434); before anything is drawn,
    those that do not begin with one of the drafter's `PRUNE` likeliest tokens are dropped. A looked-up token is named
    and removed from the distribution of its siblings. If it is among the likeliest tokens that the drafter would offer,
    it takes the place of one and gets children; otherwise it is an additional offer.

    A token that is drawn again (`TreeShape.repeats`) is one node with one more offer. Dropping the offer would make the
    text inexact, as its rejection counts a second time.

    Args:
        copied: (token, row) -> the origin of a token drawn from that one of the last rows.
    """
    grown: list[_Node] = []  # processed, in the order of their slots
    nodes: list[_Node] = []  # all, siblings in judging order
    offers: list[_Node] = []  # the same; a node that was drawn again occurs again
    frontier: list[_Node] = []
    dists: list[Tensor] = []
    logits: list[Tensor] = []
    root = trie_of(order.looked_up if isinstance(order, MergedOrder) else ())
    shape = shape_of(order.shape)
    work, ran, depth, rows = Work(0, 0, 0), list[Span](), 0, 0
    while depth < order.limit and not order.stops(depth, logits[-1] if logits else None):
        for node in frontier:
            node.index = len(grown)
            grown.append(node)
        branches = Branches(len(context), tuple(_index(node.parent) for node in grown))
        scores, took = run.grow(context, [node.id for node in grown], branches, len(frontier))
        (scores,) = fetched(scores)
        dist = order.sampler.to_probs(scores)
        parents: list[_Node | None] = [*frontier] or [None]
        forks = shape.read([p.fork if p else BEFORE for p in parents], scores, None if order.sampler.greedy else dist)
        widths = shape.widths(forks, order.limit - depth)
        frontier, drawn = [], 0
        for at, (parent, fork, wide) in enumerate(zip(parents, forks, widths, strict=True)):
            trie = parent.trie if parent else root
            known, own = known_behind(trie, scores[at], wide, pruned=parent is None)
            children: dict[int, _Node] = {}
            for token, named in _offers(dist[at], scores[at], wide - len(own), order, depth, drawn, [*known]):
                if token not in children:
                    node = _Node(token, parent, None if named else rows + at, source, copied(token, at))
                    node.fork = shape.offered(fork, scores[at], token)
                    children[token] = node
                    nodes.append(node)
                    if token not in order.ends:
                        frontier.append(node)
                offers.append(children[token])
                drawn += 1
            for token, child in known.items():
                node = _looked_up(child, parent)
                nodes.append(node)
                offers.append(node)
                if token in own:
                    node.fork = shape.offered(fork, scores[at], token)
                    if token not in order.ends:
                        frontier.append(node)
        if depth and (late := shape.late(scores)):  # behind the context, where one token was offered so far
            for token, named in _offers(dists[0][0], logits[0][0], late, order, 0, 1, [nodes[0].id]):
                nodes.append(node := _Node(token, None, None if named else 0, source, None))
                offers.append(node)
                if token not in order.ends:
                    frontier.append(node)
        work = Work(work.forwards + took.forwards, work.rows + took.rows, work.catch_up + took.catch_up)
        ran.extend(took.ran)
        dists.append(dist)
        logits.append(scores)
        rows, depth = rows + len(parents), depth + 1
        on = shape.goes_on([node.fork for node in frontier], order.limit - depth)
        frontier = [node for node, goes in zip(frontier, on, strict=True) if goes]
        if not frontier:
            break
    for node in nodes:  # the list grows: looked-up sequences continue where the drafter does not
        if node.index is None and node.trie is not None:
            beyond = [_looked_up(child, node) for child in node.trie.children.values()]
            nodes.extend(beyond)
            offers.extend(beyond)
    work = Work(work.forwards, work.rows, work.catch_up, tuple(ran))
    if not nodes:
        return Proposal((), (), work)
    numbered = [*grown, *(node for node in nodes if node.index is None)]
    for index, node in enumerate(numbered):
        node.index = index
    lineage = tuple(_index(node.parent) for node in numbered)
    once = len(offers) == len(nodes)
    chain = once and lineage == tuple(range(-1, len(nodes) - 1)) and not any(node.key for node in nodes)
    draws = None if once else Draws(tuple(offers.count(node) for node in numbered))
    origins, keys = tuple(node.copied for node in numbered), tuple(node.key for node in numbered)
    return Proposal(
        tuple(node.id for node in numbered),
        tuple(node.source for node in numbered),
        work,
        DrawnFrom(torch.cat(dists), Logits(torch.cat(logits))),
        IN_LINE if chain else Forks(lineage, tuple(Offer(_index(n), n.row) for n in offers), order.shape.repeats),
        notes=noted(Copies(origins) if any(origins) else None, Lookups(keys) if any(keys) else None, draws),
    )


def _offers(
    dist: Tensor, logits: Tensor, wide: int, order: DraftOrder, depth: int, number: int, taken: Sequence[int]
) -> Iterator[tuple[int, bool]]:
    """(token, whether it is named) of up to `wide` children of a fork in addition to `taken`, in judging order.

    Drawn without replacement while any mass is left, or with replacement, so that a token may come again; a sampler
    that `Names` some has them left out of the draws. In a greedy run one token is drawn, and the next best by logits
    are named.
    """
    if not wide:
        return
    q, first = _without(dist, taken) if taken else dist, None
    named = list[int]()
    if q is not None and hasattr(order.sampler, "names") and not order.sampler.greedy:
        named = cast(Names, order.sampler).names(q, wide)
        q, wide = _without(q, named), wide - len(named)
    if q is not None:
        first = token = order.sampler.pick(q, depth, number)
        yield token, False
    if order.sampler.greedy:
        excluded = {first, *taken}
        values, ids = largest(logits[None], wide + len(taken))
        others = [(i, x) for i, x in zip(ids[0].tolist(), values[0].tolist(), strict=True) if i not in excluded]
        yield from ((i, True) for i, x in others[: wide - (first is not None)] if x > float("-inf"))
        return
    for place in range(1, wide):
        q = q if q is None or order.shape.repeats else _without(q, [token])
        if q is None:
            break
        token = order.sampler.pick(q, depth, number + place)
        yield token, False
    yield from ((token, True) for token in named)


def _without(dist: Tensor, tokens: Sequence[int]) -> Tensor | None:
    """A distribution without some tokens; None if no other token has any mass."""
    rest = dist.clone()
    rest[list(tokens)] = 0.0
    mass = rest.sum()
    return rest / mass if float(mass) > 0.0 else None


def _looked_up(trie: Trie, parent: _Node | None) -> _Node:
    found = trie.found
    assert found is not None
    return _Node(found.token, parent, None, found.letter, found.copied, found.key, trie)


def _index(node: _Node | None) -> int:
    """The index of a node in the tree; -1 for the end of the context."""
    if node is None:
        return -1
    assert node.index is not None
    return node.index
