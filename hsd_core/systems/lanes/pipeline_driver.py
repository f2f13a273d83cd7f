"""The driver of a pipeline: a lane for every verifier with a scheduler of its own, and one for the lowest drafter.

    ngram:3,int8:6@with=ahead,target@with=ahead

    lane 2   target                    takes the waiting tokens, keeps or corrects, commits
    lane 1   int8      waiting: a b    takes the waiting tokens, keeps or corrects, hands up blocks of 6
    lane 0   ngram     waiting: c d    drafts behind d

Each lane runs the recursion of `Hierarchy` for its levels, one request at a time; when it asks for drafts
(`TakeRequest`) it gets the tokens that the lane below has handed up. If every verifier has a lane this is PipeSpec
(arXiv 2505.01572); levels without @with= share the lane of the level below and work one after another there.

A rejection cuts the text for all lanes below. A request in flight there is run to its end and its result dropped, and
waiting or held tokens are dropped; nothing else ever is. No verifier adds a bonus, as a drafted token may stand there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from hsd_core.core.choices import EpochsByCorrections
from hsd_core.core.driver import PassResult, Sequential
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.requests import Answer, DraftRequest, KeepRequest, Requests, TakeRequest
from hsd_core.core.tree import Token, Tree
from hsd_core.grammar import lanes_of, scheduler_of
from hsd_core.grammar.strategies import Orders, Scheduler, View
from hsd_core.levels.reckoned_lanes import SimulatedLanes
from hsd_core.models.context import Context
from hsd_core.systems.lanes.in_flight import UndecidedTokens


@dataclass
class _Stage:
    """A lane: its levels and its state.

    scheduler: says when its lowest level takes drafts, and when they are made; None on the lowest lane. line: the text,
    the tokens that wait or are held above, and this lane's own. waiting: tokens from the lane below, not judged yet.
    asking: the block that it works on. alive: the numbers of that block's tokens. take: its request for drafts, while
    it is idle. given: how many of the waiting tokens it judges now. arrivals: tokens since it last took some. silent:
    the last block behind its line was empty. cut: the length to which the text was cut since its block began.
    """

    levels: range
    scheduler: Scheduler | None
    line: Context = field(default_factory=Context)
    waiting: UndecidedTokens = field(default_factory=UndecidedTokens)
    asking: Requests[Tree] | None = None
    first: int = 0
    alive: dict[int, None] = field(default_factory=dict)  # in order
    take: TakeRequest | None = None
    given: int | None = None
    scored: PassResult | None = None
    arrivals: int = 0
    silent: bool = False
    cut: int | None = None

    def stands(self) -> None:
        """Stop: nothing is in flight."""
        if self.asking is not None:
            self.asking.close()
        self.asking = self.take = self.given = self.cut = None
        self.alive.clear()

    def numbers(self) -> Iterator[int]:
        """The numbers of all tokens that would be dropped with one before them."""
        yield from self.alive
        yield from self.waiting.numbers(behind=0)


class Pipeline(Sequential):
    """A lane for each verifier with a scheduler, and one more; a `Driver`."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._lanes = SimulatedLanes(self._pass, self.writer.clock)
        specs = [entry.spec for entry in self.stack]
        self._lane_of = lanes_of(specs)
        self._stages: list[_Stage] = []
        for _, own in groupby(range(len(specs)), key=self._lane_of.__getitem__):
            first, *more = own
            scheduler = scheduler_of(specs[first]).bind(specs[first].values) if self._stages else None
            self._stages.append(_Stage(range(first, first + 1 + len(more)), scheduler))
        self._end = 0  # the most tokens that the text may have
        self._committed: Tree | None = None

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        waits = [number for stage in self._stages for number in stage.numbers()]
        waits += [stage.first for stage in self._stages[:-1] if stage.asking is not None]
        return min(waits, default=None)

    def cache_lengths(self, length: int) -> Event:
        """See `Driver.cache_lengths`; for the target's lane: the others report their caches when a block arrives."""
        return self._kv(self._stages[-1].levels, length)

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """See `Driver.round`."""
        if not self._end:
            hierarchy.epochs = EpochsByCorrections()
            for stage in self._stages:
                stage.line = context
        self._end = len(context) + budget
        top, self._committed = self._stages[-1], None
        top.asking = hierarchy.round(context, budget)
        yield from self._go_on(hierarchy, top, None)
        while self._committed is None:
            yield from self._start(hierarchy, context)
            request, done = self._lanes.ended()
            stage = self._stages[self._lane_of[request.level]]
            if stage.cut is not None:
                yield from self._drop(hierarchy, request, done)
                yield from self._forget(stage.levels, stage.cut)
                stage.stands()
            elif isinstance(request, DraftRequest):
                tree = yield from self._written(request, done)
                stage.alive.update((token.serial, None) for token in tree.tokens)
                yield from self._go_on(hierarchy, stage, tree)
            else:
                stage.scored = done
                yield from self._go_on(hierarchy, stage, done.logits)
        return self._committed

    def _start(self, hierarchy: Hierarchy, context: Context) -> Generator[Event, None, None]:
        """Start what the schedulers order, from the target down."""
        for i in range(len(self._stages) - 1, 0, -1):
            stage, below = self._stages[i], self._stages[i - 1]
            assert stage.scheduler is not None
            ended = len(below.line) > len(context) and below.line[-1] in hierarchy.ends
            view = View(
                undecided=len(stage.waiting),
                submitted=stage.given or 0,
                drafting=below.asking is not None,
                verifying=stage.take is None,
                drafted=stage.arrivals,
                block=self.stack[below.levels[-1]].block or 0,
                room=0 if ended else self._end - len(below.line),
                silent=below.silent,
                between=stage.take is None and stage.given is None,
            )
            orders = stage.scheduler.ended(view)
            if orders.verify:
                take = stage.take
                assert take and self._may(orders, view), f"{orders} where {view}"
                stage.given, stage.arrivals, stage.take = min(orders.verify.tokens, take.budget), 0, None
                yield from self._go_on(hierarchy, stage, stage.waiting.first(stage.given))
            if orders.draft:
                assert below.asking is None and not below.silent and orders.draft <= view.room, f"{orders} where {view}"
                below.asking, below.first = (
                    hierarchy.pull(below.levels[-1], below.line, orders.draft),
                    self.writer.next_serial,
                )
                yield from self._go_on(hierarchy, below, None)

    def _may(self, orders: Orders, view: View) -> bool:
        """Whether an order is legal: without drafted tokens the verifier samples a token, and whether it does must not
        depend on how long a draft takes."""
        assert orders.verify
        tokens = orders.verify.tokens
        return tokens <= view.undecided and not orders.verify.next and bool(tokens or not view.drafting)

    def _go_on(self, hierarchy: Hierarchy, stage: _Stage, answer: Answer) -> Generator[Event, None, None]:
        """Advance a lane's block to its next request, to where it waits for drafts, or to its end."""
        assert stage.asking is not None
        while True:
            try:
                asked = stage.asking.send(answer)
            except StopIteration as end:
                yield from self._handed_up(stage, end.value)
                return
            if isinstance(asked, TakeRequest):
                stage.take = asked
                return
            if not isinstance(asked, KeepRequest):
                self._lanes.start(asked)
                return
            answer = yield from self._verdict(stage, asked)

    def _handed_up(self, stage: _Stage, block: Tree) -> Generator[Event, None, None]:
        """A block is finished: commit it, or queue it for the lane above."""
        stage.asking = None
        stage.alive.clear()
        if stage is self._stages[-1]:
            self._committed = block
            return
        above = self._stages[self._stages.index(stage) + 1]
        above.waiting.append(block)
        above.arrivals += len(block)
        stage.silent = not len(block)
        if stage is self._stages[0] and len(stage.levels) == 1:
            stage.line = stage.line + block.ids
        yield self._kv(stage.levels, len(stage.line))

    def _verdict(self, stage: _Stage, asked: KeepRequest) -> Generator[Event, None, Token | None]:
        """Apply a verdict of this lane; after a rejection everything behind it is dropped."""
        tree, kept = asked.judged.tree, asked.judged.verdict.path
        whole, place = len(kept) == len(tree), self._stages.index(stage)
        took, stage.given = stage.given, None
        below = self._stages[:place]
        dropped: list[int] = []
        if not whole:
            dropped += stage.waiting.numbers(behind=took or 0)
            dropped += [number for one in reversed(below) for number in one.numbers()]
        assert stage.scored is not None, "a verdict needs scores"
        token = yield from self._keep(asked, stage.scored, self.writer.clock.now(), stage.levels, dropped)
        for node, judged in enumerate(tree.tokens):
            stage.alive.pop(judged.serial, None)
            if node in kept:
                stage.alive[judged.serial] = None
        if token:
            stage.alive[token.serial] = None
        ids = [*(tree.ids[node] for node in kept), *([token.id] if token else ())]
        stage.line = asked.context + ids
        if whole and len(tree):
            if took:
                stage.waiting.judged(took)
            return token
        stage.waiting.clear()
        for one in below:  # if the verifier sampled a token without drafts, these lanes are idle and empty
            one.waiting.clear()
            one.line, one.silent, one.arrivals = stage.line, False, 0
            at = len(asked.context) + len(kept)
            if one.asking is not None and one.take is None:
                one.cut = at if one.cut is None else min(one.cut, at)
                one.given = None
                one.alive.clear()
            else:
                one.stands()
                yield from self._forget(one.levels, at)
        return token
