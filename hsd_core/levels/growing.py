"""Trees of drafts: a drafter offers several tokens behind each of its own, by its own law at every fork.

All nodes of one depth are processed in one forward, each seeing the context and its ancestors (SpecInfer, arXiv
2305.09781; MCSD, arXiv 2401.06706). How many children a fork has and whether a tree goes deeper follows from the rows
and from the tokens drawn before, and nothing drawn is dropped: so every offer has the law that the verifier's rule
divides by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hsd_core.levels.protocol import DraftOrder, Proposal, Work
from hsd_core.levels.tree import Offer
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.passes import Branches
from hsd_core.models.sampling import largest
from hsd_core.trace import Copied, Span

if TYPE_CHECKING:
    from torch import Tensor


class Grows(Protocol):
    """A level's state in a run that processes a tree depth by depth."""

    def grow(self, context: Sequence[int], ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """Process the last `new` nodes of a tree behind the context, or, without any, what is new of the context.

        Args:
            ids: (n,) all nodes that the tree has so far. The others were processed by the calls before this one.
        Returns:
            (max(1, new), V) logits behind them.
        """
        ...


@dataclass(slots=True)
class _Node:
    """A drafted token. parent: the place of its parent among the processed nodes. row: that it was drawn from; None
    for a named one. place: its own among the processed nodes, once it is one."""

    id: int
    parent: int
    row: int | None
    copied: Copied | None
    place: int | None = None


def draft_tree(
    run: Grows,
    context: Sequence[int],
    order: DraftOrder,
    source: str,
    copied: Callable[[int, int], Copied | None] = lambda token, row: None,
) -> Proposal:
    """A tree of `order.widths`, one forward a depth.

    Processed nodes are numbered first, in the order of their slots, and those that nobody looked behind follow: so a
    verifier that shares the drafter's states goes on from them, and leaves may be left out without renumbering.

    Args:
        copied: (token, row) what a token, drawn from that one of the last rows, was copied from.
    """
    import torch

    grown: list[_Node] = []  # processed, in the order of their slots
    nodes: list[_Node] = []  # all, in judging order
    frontier: list[_Node] = []
    laws: list[Tensor] = []
    logits: list[Tensor] = []
    work, ran, depth, rows = Work(0, 0, 0), list[Span](), 0, 0
    while depth < order.limit and not order.stops(depth, logits[-1] if logits else None):
        for node in frontier:
            node.place = len(grown)
            grown.append(node)
        branches = Branches(len(context), tuple(node.parent for node in grown))
        scores, took = run.grow(context, [node.id for node in grown], branches, len(frontier))
        (scores,) = fetched(scores)
        law = order.to_probs(scores)
        forks = [len(grown) - len(frontier) + at for at in range(len(frontier))] or [-1]
        wide = order.widths[depth] if depth < len(order.widths) else 1
        frontier, drawn = [], 0
        for at, fork in enumerate(forks):
            for token, named in _offers(law[at], scores[at], wide, order, depth, drawn):
                node = _Node(token, fork, None if named else rows + at, copied(token, at))
                nodes.append(node)
                drawn += 1
                if token not in order.ends:
                    frontier.append(node)
        work = Work(work.forwards + 1, work.rows + took.rows, work.catch_up + took.catch_up)
        ran.extend(took.ran)
        laws.append(law)
        logits.append(scores)
        rows, depth = rows + len(forks), depth + 1
        if not frontier:
            break
    work = Work(work.forwards, work.rows, work.catch_up, tuple(ran))
    if not nodes:
        return Proposal((), (), work)
    numbered = [*grown, *(node for node in nodes if node.place is None)]
    places = {id(node): place for place, node in enumerate(numbered)}
    parents = tuple(node.parent for node in numbered)
    chain = parents == tuple(range(-1, len(nodes) - 1))
    origins = tuple(node.copied for node in numbered)
    return Proposal(
        tuple(node.id for node in numbered),
        (source,) * len(nodes),
        work,
        torch.cat(laws),
        torch.cat(logits),
        None if chain else parents,
        None if chain else tuple(Offer(places[id(node)], node.row) for node in nodes),
        copied=origins if any(origins) else (),
    )


def _offers(
    law: Tensor, logits: Tensor, wide: int, order: DraftOrder, depth: int, number: int
) -> Iterator[tuple[int, bool]]:
    """(token, whether it is named) of up to `wide` children of a fork, in judging order.

    Drawn without replacement while anything is left. A one-hot law has one token to draw: behind it the next best by
    logits are named.
    """
    first = token = int(order.pick(law, depth, number))
    yield token, False
    if wide == 1:
        return
    if order.greedy:
        values, ids = largest(logits[None], wide)
        others = [(i, x) for i, x in zip(ids[0].tolist(), values[0].tolist(), strict=True) if i != first]
        yield from ((i, True) for i, x in others[: wide - 1] if x > float("-inf"))
        return
    q = law
    for place in range(1, wide):
        q = q.clone()
        q[token] = 0.0
        mass = q.sum()
        if float(mass) <= 0.0:
            return
        q = q / mass
        token = int(order.pick(q, depth, number + place))
        yield token, False
