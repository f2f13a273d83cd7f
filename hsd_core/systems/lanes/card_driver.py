"""The driver of `card`: while the target verifies a path of the tree, the drafter adds layers to the tree.

    query     the target reads the path to the tip, and computes the rows behind each of its tokens
    correct   its token for each place is looked up among the tree's candidates there, on the path and next to it;
              the tree is re-rooted at the last one that is found

What is judged is a comb: the path, and the candidates behind each of its tokens, including those that were added behind
the tip meanwhile. All are named tokens, and the target's rule may be any that judges trees.

The tree persists while the text grows:

    layer    the tokens expanded next: the likeliest paths among the last layer's candidates, and if these are too few,
             the likeliest of the candidates left before (CARD, arXiv 2508.04462)
    tip      the likeliest of them: the path to it is verified

Every expanded token has the drafter's `width` likeliest candidates behind it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.driver import result_of
from hsd_core.core.events import Event, Span
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import DraftOrder, DrawnFrom, Forks, Proposal, Work, drafter
from hsd_core.core.requests import DraftRequest, KeepRequest, ScoreRequest
from hsd_core.core.tree import NOTHING, Offer, Token, Tree
from hsd_core.levels.growing import Grows
from hsd_core.levels.memory import most_nodes
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.one_pass import Branches
from hsd_core.models.sampling import Logits, largest
from hsd_core.systems.lanes.declaration import Card
from hsd_core.systems.lanes.lock_step import LockStep


class CardDriver(LockStep):
    """A tree that keeps growing while the target verifies; a `Driver`."""

    _scheduler: Card

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._tree: PersistentTree | None = None
        self._reach = 0  # how deep it may be after this step
        self._new: list[Node] = []  # nodes added in this step

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        return min((node.serial for node in self._tree.nodes()), default=None) if self._tree else None

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """See `Driver.round`."""
        if self._tree is None:
            self._tree = PersistentTree(self._scheduler.width, most_nodes(self.stack), hierarchy.ends)
        tree, tip = self._tree, self._tree.tip()
        path = tip.path() if tip else []
        room = 0 if tip and tip.id in hierarchy.ends else budget - len(path)
        orders = self._ordered(len(path), room)
        request = self._asked(hierarchy, context, orders.draft) if orders.draft else None
        query = Tree([_token(node) for node in (path if request else path[:-1])])
        self._reach = len(path) + orders.draft
        scored, drafted = self._together(ScoreRequest(1, context, query), request)
        if request and drafted and self._new:
            above = [node.above for node in self._new]
            onto = [-1 if up is None or up.token is None else up.serial for up in above]
            tokens = (yield from self._written(request, drafted, onto=onto if max(onto) >= 0 else ())).tokens
            for new, numbered in zip(self._new, tokens, strict=True):
                new.token = numbered

        candidates, comb, rows = comb_of(tree.roots, path)
        asking = hierarchy.judge(1, context, comb, scored.logits[:rows], bonus=not candidates)
        asked = next(asking)
        assert isinstance(asked, KeepRequest)
        verdict = asked.judged.verdict
        kept, found = [candidates[node] for node in verdict.path], verdict.token is None
        fell, judged = list(tree.nodes()), {id(node) for node in candidates}
        slots = tree.root_at(kept, behind=found)
        stays = {id(node) for node in tree.nodes()}
        dropped = [node.serial for node in fell if id(node) not in judged and id(node) not in stays]
        token = yield from self._keep(asked, scored, scored.t1, (1,), dropped)
        length = len(context) + len(kept) + (token is not None) + len(stays)
        yield from self._settle(len(context), slots, length)
        return result_of(asking, token)[0]

    def _proposed(self, asked: DraftRequest) -> Proposal:
        """A draft adds layers to the tree."""
        grows: Grows = drafter(self.runs[0])  # type: ignore[assignment]
        assert self._tree is not None
        proposal, self._new = self._tree.grow(grows, asked.context, asked.order, self._reach, self.stack[0].name)
        return proposal


def comb_of(roots: Sequence[Node], path: Sequence[Node]) -> tuple[list[Node], Tree, int]:
    """The candidates behind the text and behind each token of a path, in judging order; the same as a tree; and the
    number of places for which the target's row is needed."""
    candidates, parents, rows = list(roots), [-1] * len(roots), 1
    for node in path:
        if not node.below:
            break
        parents += [candidates.index(node)] * len(node.below)
        candidates += node.below
        rows += 1
    if not candidates:
        return [], NOTHING, rows
    offers = tuple(Offer(at) for at in range(len(candidates)))
    return candidates, Tree([_token(node) for node in candidates], None, None, tuple(parents), offers), rows


def _token(node: Node) -> Token:
    assert node.token is not None
    return node.token


@dataclass(slots=True, eq=False)
class Node:
    """A candidate. above: its parent, None behind the text. chance: log probability of its path. slot: among the tokens
    that the drafter has read, None if it has not. token: set when the run has numbered it."""

    id: int
    above: Node | None
    chance: float
    slot: int | None = None
    token: Token | None = None
    below: list[Node] = field(default_factory=list)

    @property
    def serial(self) -> int:
        assert self.token is not None
        return self.token.serial

    def path(self) -> list[Node]:
        """The nodes from the first token behind the text to this one."""
        found, node = list[Node](), self
        while node is not None:
            found.append(node)
            node = node.above  # type: ignore[assignment]
        return found[::-1]


class PersistentTree:
    """width: candidates behind a token, and tokens of a layer. most: tokens of it that the drafter's cache can hold."""

    def __init__(self, width: int, most: int, ends: frozenset[int]) -> None:
        self._width, self._most, self._ends = width, most, ends
        self.roots: list[Node] = []
        self._read: list[Node] = []  # in the order of their slots
        self._fresh: list[Node] = []  # the last layer's candidates
        self.grew = False  # since it was re-rooted

    def nodes(self) -> Iterator[Node]:
        """All, a parent before its children."""
        waiting = list(self.roots)
        for node in waiting:
            yield node
            waiting.extend(node.below)

    def tip(self) -> Node | None:
        """The end of the path that is verified next; None if the tree is empty."""
        layer = self._layer(inf)
        if layer:
            return layer[0]
        return max((x for x in self.nodes() if x.slot is None), key=lambda x: (len(x.path()), x.chance), default=None)

    def grow(
        self, run: Grows, context: Context, order: DraftOrder, reach: int, source: str
    ) -> tuple[Proposal, list[Node]]:
        """Add up to `order.limit` layers, at most `reach` deep; the draft, and its nodes in the same order."""
        new, logits, works, offers = list[Node](), list[Tensor](), list[Work](), list[Offer]()
        while len(logits) < order.limit and not order.stops(len(logits), logits[-1] if logits else None):
            layer = self._layer(reach)
            if self.roots and not 0 < len(layer) <= self._most - len(self._read):
                break
            for node in layer:
                node.slot = len(self._read)
                self._read.append(node)
            branches = Branches(len(context), tuple(_slot(node.above) for node in self._read))
            scores, took = run.grow(context, [node.id for node in self._read], branches, len(layer))
            (scores,) = fetched(scores)
            order.sampler.check(scores)
            before = sum(len(rows) for rows in logits)
            behind: list[Node] | list[None] = layer or [None]
            self._fresh = []
            for at, (above, likeliest) in enumerate(zip(behind, self._likeliest(scores), strict=True)):
                for id_, chance in likeliest:
                    node = Node(id_, above, chance + (above.chance if above else 0.0))
                    (above.below if above else self.roots).append(node)
                    self._fresh.append(node)
                    offers.append(Offer(len(offers), before + at))
            new += self._fresh
            logits.append(scores)
            works.append(took)
            self.grew = True
        place = {id(node): at for at, node in enumerate(new)}
        parents = tuple(place.get(id(node.above), -1) for node in new)
        return Proposal(
            tuple(node.id for node in new),
            (source,) * len(new),
            _sum(works),
            DrawnFrom(None, Logits(torch.cat(logits)) if logits else None),
            Forks(parents, tuple(offers)),
        ), new

    def root_at(self, path: Sequence[Node], *, behind: bool) -> list[int]:
        """Re-root the tree at the end of a path that the text has taken; the slots that stay, those of the path first.

        behind: what was grown behind the path stays; otherwise nothing does.
        """
        root = path[-1] if path and behind else None
        kept = [node for node in self._read if root is not None and root in node.path()[:-1]]
        slots = [node.slot for node in (*path, *kept) if node.slot is not None]
        if not self.grew:  # the cache can only move slots behind tokens just read: others are cut and read again
            slots = [slot for at, slot in enumerate(slots) if slots[: at + 1] == [*range(at + 1)]]
        self._fresh = [node for node in self._fresh if root is not None and root in node.path()[:-1]]
        self.roots = root.below if root else []
        for node in self.roots:
            node.above = None
        self._read = kept
        for slot, node in enumerate(kept):
            node.slot = slot
        self.grew = False
        return slots

    def _layer(self, reach: float) -> list[Node]:
        """The tokens expanded next: the likeliest of the last layer's candidates, then of all others."""

        def likeliest(some: Sequence[Node]) -> list[Node]:
            open_ = [x for x in some if x.slot is None and x.id not in self._ends and len(x.path()) < reach]
            return sorted(open_, key=lambda x: -x.chance)

        chosen = likeliest(self._fresh)[: self._width]
        if len(chosen) < self._width:
            fresh = {id(node) for node in self._fresh}
            spare = likeliest([node for node in self.nodes() if id(node) not in fresh])
            chosen += spare[: self._width - len(chosen)]
        return chosen

    def _likeliest(self, scores: Tensor) -> list[list[tuple[int, float]]]:
        """(id, log probability) of each row's `width` likeliest tokens, in falling order."""
        values, ids = largest(scores, self._width)
        chances = values - scores.logsumexp(-1, keepdim=True)
        rows = zip(ids.tolist(), chances.tolist(), strict=True)
        return [[(id_, chance) for id_, chance in zip(*row, strict=True) if chance > -inf] for row in rows]


def _slot(node: Node | None) -> int:
    if node is None:
        return -1
    assert node.slot is not None
    return node.slot


def _sum(works: Sequence[Work]) -> Work:
    spans: list[Span] = [span for work in works for span in work.ran]
    return Work(len(works), sum(x.rows for x in works), sum(x.catch_up for x in works), tuple(spans))
