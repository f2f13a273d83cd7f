"""The driver of a pipeline: every verifier with a scheduler of its own has a lane, as has what drafts for the lowest.

    ngram:3,int8:6@with=ahead,target@with=ahead

    lane 2   target                 takes what waits for it, keeps or corrects, commits
    lane 1   int8      waits: a b   takes what waits for it, keeps or corrects, hands up blocks of 6
    lane 0   ngram     waits: c d   drafts behind d

Each lane runs the recursion of `Hierarchy` for its own levels, one request at a time; where it asks for drafts
(`TakeRequest`) it is given those that the lane below has handed up. PipeSpec (arXiv 2505.01572) where every verifier
has a lane; levels without @with= share the lane of the one below, and work one after another there.

A rejection cuts the text for all lanes below. What is under way there is run to the end of its request and dropped,
what waits or is held there falls; nothing else ever does. No verifier adds a bonus: a drafted token may stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from hsd_core.core.choices import EpochsByCorrections
from hsd_core.core.driver import PassResult, Sequential
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import LevelRun
from hsd_core.core.requests import Answer, Asking, DraftRequest, KeepRequest, TakeRequest
from hsd_core.core.tree import Token, Tree
from hsd_core.core.writer import TraceWriter
from hsd_core.grammar import lanes_of, scheduler_of
from hsd_core.grammar.strategies import Orders, Scheduler, View
from hsd_core.models.context import Context
from hsd_core.systems.lanes.under_way import Reckoned, Undecided


@dataclass
class _Stage:
    """A lane: its levels, and how things stand there.

    scheduler: says when its lowest level takes drafts, and when they are made; None on the lowest lane. line: what it
    has written so far: the text, what waits or is held above, and its own. waiting: handed up from the lane below, not
    judged here. asking: the block that it is at. alive: the numbers of that block's tokens. take: what it asks for, its
    lane standing. given: how many of the waiting it judges now. arrivals: tokens since it last took some. silent: the
    last block behind its line came back empty. cut: to how many tokens the text was cut under what it is at.
    """

    levels: range
    scheduler: Scheduler | None
    line: Context = field(default_factory=Context)
    waiting: Undecided = field(default_factory=Undecided)
    asking: Asking[Tree] | None = None
    born: int = 0
    alive: dict[int, None] = field(default_factory=dict)  # in order
    take: TakeRequest | None = None
    given: int | None = None
    scored: PassResult | None = None
    arrivals: int = 0
    silent: bool = False
    cut: int | None = None

    def stands(self) -> None:
        """Nothing is under way."""
        if self.asking is not None:
            self.asking.close()
        self.asking = self.take = self.given = self.cut = None
        self.alive.clear()

    def numbers(self) -> Iterator[int]:
        """The numbers of all tokens that would fall with one before them."""
        yield from self.alive
        yield from self.waiting.numbers(behind=0)


class Pipeline(Sequential):
    """As many lanes as verifiers that draft on below, and one; a `Driver`."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        runs: Sequence[LevelRun],
        writer: TraceWriter,
        stop: Callable[[], bool],
    ) -> None:
        super().__init__(stack, runs, writer, stop)
        self._lanes = Reckoned(self._pass, writer.clock)
        specs = [place.spec for place in stack]
        self._lane_of = lanes_of(specs)
        self._stages: list[_Stage] = []
        for _, own in groupby(range(len(stack)), key=self._lane_of.__getitem__):
            first, *more = own
            scheduler = scheduler_of(specs[first]).bind(specs[first].values) if self._stages else None
            self._stages.append(_Stage(range(first, first + 1 + len(more)), scheduler))
        self._end = 0  # of the text: so many tokens there may be
        self._committed: Tree | None = None

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        waits = [number for stage in self._stages for number in stage.numbers()]
        waits += [stage.born for stage in self._stages[:-1] if stage.asking is not None]
        return min(waits, default=None)

    def at_rest(self, length: int) -> Event:
        """See `Driver.at_rest`; the target's lane alone: the others write theirs when a block is there."""
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
        """Have the lanes start what their schedulers say, from the target down."""
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
                below.asking, below.born = hierarchy.pull(below.levels[-1], below.line, orders.draft), self.writer.born
                yield from self._go_on(hierarchy, below, None)

    def _may(self, orders: Orders, view: View) -> bool:
        """Whether a verifier may be told this: with none of the drafted tokens it writes one of its own, which may not
        hang on how long a draft of it takes."""
        assert orders.verify
        tokens = orders.verify.tokens
        return tokens <= view.undecided and not orders.verify.next and bool(tokens or not view.drafting)

    def _go_on(self, hierarchy: Hierarchy, stage: _Stage, answer: Answer) -> Generator[Event, None, None]:
        """A lane's block goes on: to what its lane has to run next, to where it waits for drafts, or up."""
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
        """A block is there: it is committed, or waits behind what else the lane above has to judge."""
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
        """What a level of this lane keeps; where that is not all, everything behind it falls."""
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
        for one in below:  # those of a token of its own, beside which nothing was drafted, stand and have nothing there
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
