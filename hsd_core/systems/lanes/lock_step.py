"""Lanes in lock step: the drafter drafts while the target verifies, and neither starts again before both are done.

A step is one request to each lane (`reckoned_lanes`): each is run alone and timed, and both start at the same moment.

`DuoDriver` drafts sequences that differ in their first token:

    undecided   a b c          the target reads them, and computes the row behind c
    fan                 d ..   drafted meanwhile: d, e and f are candidates for the token of that row
                        e ..
                        f ..

The drafter's probabilities say in every step how many (`tree_shape.Chains`). The sequences are as long as the passes of
the drafter fit into one of the target, by the mean times of this run so far without the prompt's.

The target judges a, b, c and then d, e, f as candidates for one place. If it keeps one of them, the rest of that
sequence is undecided in the next step; otherwise all are dropped. DuoDecoding compares the target's token with the
first tokens (rule `match`); rule `tokenwise` judges drawn ones by their distribution, as in any tree.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.driver import PassResult, Sequential, result_of
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import DraftOrder
from hsd_core.core.requests import DraftRequest, KeepRequest, ScoreRequest
from hsd_core.core.tree import NOTHING, Offer, Tree
from hsd_core.grammar import rule_of
from hsd_core.grammar.keys import MAX_BLOCK
from hsd_core.grammar.strategies import Orders, Scheduler, View
from hsd_core.levels.reckoned_lanes import SimulatedLanes
from hsd_core.levels.tree_shape import Beginnings
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, likeliest, to_probs
from hsd_core.systems.lanes.declaration import Duo
from hsd_core.systems.lanes.in_flight import UndecidedTokens

GREEDY = Sampling()


class LockStep(Sequential):
    """One drafter and the target, step by step. `scheduler` says how much is drafted in a step."""

    def __init__(self, *given: Any, scheduler: Scheduler) -> None:
        super().__init__(*given)
        assert len(self.stack) == 2, "lock step has one drafter"
        self._scheduler, self._lanes = scheduler, SimulatedLanes(self._pass, self.writer.clock)

    def cache_lengths(self, length: int) -> Event:
        """See `Driver.cache_lengths`; of the target only: the drafter's follows when its tokens are judged."""
        return self._kv((1,), length)

    def _ordered(self, undecided: int, room: int) -> Orders:
        """The scheduler's orders for this step."""
        view = View(
            undecided=undecided,
            submitted=0,
            drafting=False,
            verifying=False,
            drafted=0,
            block=self.stack[0].block or 0,
            room=room,
            silent=False,
        )
        return self._scheduler.ended(view)

    def _asked(self, hierarchy: Hierarchy, line: Context, limit: int) -> DraftRequest:
        """The request for at most `limit` drafted tokens behind a text."""
        asked = next(hierarchy.pull(0, line, limit))
        assert isinstance(asked, DraftRequest)
        return asked

    def _together(self, verify: ScoreRequest, draft: DraftRequest | None) -> tuple[PassResult, PassResult | None]:
        """The results of both lanes in this step; the clock is set to the end of the longer one."""
        lanes = self._lanes
        lanes.start(verify)
        if draft is None:
            return lanes.ended()[1], None
        lanes.start(draft)
        done = {request.level: passed for request, passed in (lanes.ended(), lanes.ended())}
        return done[1], done[0]

    def _settle(self, start: int, slots: Sequence[int], length: int) -> Generator[Event, None, None]:
        """Cut the drafter's cache behind the first `start` tokens to these slots. length: of the text and all undecided
        tokens."""
        run = self.runs[0]
        before = run.cached
        if before > start:
            run.keep(start, slots)
            if run.cached < before:
                yield self.writer.rollback(0, before, run.cached)
        yield self._kv((0,), length)


def naming(order: DraftOrder) -> DraftOrder:
    """The same order, but the drafter names its likeliest tokens and draws none."""

    def rows(logits: Tensor) -> Tensor:
        order.sampler.check(logits)
        return to_probs(logits, GREEDY)

    return order.drawing(greedy=True, to_probs=rows, pick=lambda row, *place: int(likeliest(row[None])[0]))


class DuoDriver(LockStep):
    """Several sequences are drafted while the target verifies; a `Driver`."""

    _scheduler: Duo

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._undecided = UndecidedTokens()
        self._names = rule_of(self.stack[-1].spec).rowless
        self._spent: tuple[MeanTime, MeanTime] | None = None  # of the drafter and the target; None in the first step

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        return self._undecided.oldest

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """See `Driver.round`."""
        undecided = self._undecided
        chain, last = undecided.first(len(undecided)), undecided.last
        room = 0 if undecided.ends(hierarchy.ends) else budget - len(chain)
        orders = self._ordered(len(chain), room)
        line, fan, request = context + chain.ids, NOTHING, None
        if orders.draft:
            request = self._fan(hierarchy, line, min(orders.draft, self._matched()))
        verify = ScoreRequest(1, context, chain if request else chain.inner()[0])
        scored, drafted = self._together(verify, request)
        self._measure(scored, drafted)
        if request and drafted:
            above = drafted.proposal.forks.parents or tuple(range(-1, len(drafted.proposal.ids) - 1))
            onto = () if last is None else tuple(last if up < 0 else -1 for up in above)
            drafted = drafted._replace(
                result=replace(drafted.proposal, forks=replace(drafted.proposal.forks, parents=above))
            )
            fan = yield from self._written(request, drafted, onto=onto)
            fan = replace(fan, rows=None) if request.order.sampler.greedy else fan

        tree, firsts = with_firsts(chain, fan)
        bonus = request is not None and not len(fan)
        asking = hierarchy.judge(1, context, tree, scored.logits, bonus=bonus)
        asked = next(asking)
        assert isinstance(asked, KeepRequest)
        kept = len(asked.judged.verdict.path)
        won = sequence(fan, firsts[asked.judged.verdict.path[-1] - len(chain)]) if kept > len(chain) else []
        ready = {*firsts, *won}
        dropped = [token.serial for node, token in enumerate(fan.tokens) if node not in ready]
        token = yield from self._keep(asked, scored, scored.t1, (1,), dropped)
        undecided.clear()
        undecided.append(_chain(fan, won[1:]))
        end = len(context) + kept
        slots, start = (won, len(line)) if won else ((), min(end, len(line)))
        yield from self._settle(start, slots, end + (token is not None) + len(undecided))
        return result_of(asking, token)[0]

    def _fan(self, hierarchy: Hierarchy, line: Context, limit: int) -> DraftRequest:
        asked = self._asked(hierarchy, line, limit)
        order = replace(asked.order, shape=Beginnings((self._scheduler.width,)))
        return replace(asked, order=naming(order) if self._names else order)

    def _measure(self, scored: PassResult, drafted: PassResult | None) -> None:
        """Add the times of a step; those of the first, whose passes read the prompt, are left out."""
        if self._spent is None:
            self._spent = MeanTime(), MeanTime()
            return
        drafting, verifying = self._spent
        verifying.add(scored)
        if drafted:
            drafting.add(drafted)

    def _matched(self) -> int:
        """How many passes of the drafter one of the target takes, at least 1; as many as there may be while neither is
        known."""
        if self._spent is None or not (self._spent[0].ns and self._spent[1].ns):
            return MAX_BLOCK
        drafting, verifying = self._spent
        return max(1, int(verifying.mean / drafting.mean))


@dataclass(slots=True)
class MeanTime:
    """The mean time of a lane's passes (ns)."""

    ns: int = 0
    passes: int = 0

    def add(self, done: PassResult) -> None:
        self.ns, self.passes = self.ns + done.t1 - done.t0, self.passes + done.work.forwards

    @property
    def mean(self) -> float:
        return self.ns / max(1, self.passes)


def with_firsts(chain: Tree, fan: Tree) -> tuple[Tree, list[int]]:
    """The undecided tokens followed by the fan's first tokens as candidates for one place; and the fan's nodes of
    these, in judging order."""
    m = len(chain)
    offers = [fan.offers[o] for o in fan.forks.get(-1, ())]
    if not offers:
        return chain, []
    firsts = [offer.node for offer in offers]
    rows = [] if chain.rows is None else [*chain.rows]
    known = [Offer(t, t if rows else None) for t in range(m)]
    drawn = next((offer.row for offer in offers if offer.row is not None), None) if fan.rows is not None else None
    if drawn is not None and fan.rows is not None:
        rows.append(fan.rows[drawn])
    last = len(rows) - 1
    beside = [
        Offer(m + at, last if drawn is not None and offer.row is not None else None) for at, offer in enumerate(offers)
    ]
    tokens = [*chain.tokens, *(fan.tokens[node] for node in firsts)]
    parents = (*range(-1, m - 1), *([m - 1] * len(firsts)))
    return Tree(tokens, torch.stack(rows) if rows else None, None, parents, (*known, *beside)), firsts


def sequence(fan: Tree, first: int) -> list[int]:
    """The nodes of the fan's sequence that begins with node `first`."""
    found = [first]
    for node, above in enumerate(fan.lineage):
        if above == found[-1]:
            found.append(node)
    return found


def _chain(fan: Tree, nodes: Sequence[int]) -> Tree:
    """Nodes of the fan as a chain, with the rows that they were drawn from."""
    tokens = [fan.tokens[node] for node in nodes]
    if fan.rows is None or not nodes:
        return Tree(tokens)
    row_of = {offer.node: offer.row for offer in fan.offers}
    return Tree(tokens, fan.rows[[row_of[node] for node in nodes]])
