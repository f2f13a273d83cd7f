"""The driver of `card`: while the target verifies a path of the tree, the drafter adds layers to the tree.

    query     the target reads the path to the tip, and computes the rows behind each of its tokens
    correct   its token for each place is looked up among the tree's candidates there, on the path and next to it;
              the tree is re-rooted at the last one that is found

What is judged is a comb: the path, and the candidates behind each of its tokens, including those that were added behind
the tip meanwhile. All are named tokens, and the target's rule may be any that judges trees.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from hsd_core.core.driver import result_of
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import Proposal, drafter
from hsd_core.core.requests import DraftRequest, KeepRequest, ScoreRequest
from hsd_core.core.tree import NOTHING, Offer, Token, Tree
from hsd_core.levels.growing import Grows
from hsd_core.levels.memory import most_nodes
from hsd_core.models.context import Context
from hsd_core.systems.lanes.declaration import Card
from hsd_core.systems.lanes.lock_step import LockStep
from hsd_core.systems.lanes.persistent_tree import Node, PersistentTree


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
