"""The driver of two lanes: the target verifies on one while the levels below draft on the other.

    scheduler  --counts-->  Orders: draft, verify             when
    hierarchy  --requests of `pull` and `judge`-->  lanes     what

Each lane runs one request at a time on the simulated lanes' clock (`reckoned_lanes`). Requests are handled in the order
in which they end, on one clock that never goes back; the driver's own time to judge is on it too.

A rejection cuts the text behind which the drafter works. A request in flight there is run to its end, dropped and
counted; nothing else ever is. The verifier samples a token without drafts only while no draft is in flight: whether one
is may depend on a token's value.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from hsd_core.core.driver import PassResult, Sequential, result_of
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.requests import Answer, DraftRequest, KeepRequest, Requests, ScoreRequest
from hsd_core.core.tree import Tree
from hsd_core.grammar.strategies import Scheduler, Submission, View
from hsd_core.levels.reckoned_lanes import SimulatedLanes
from hsd_core.models.context import Context
from hsd_core.systems.lanes.in_flight import UndecidedTokens


@dataclass(slots=True)
class _Pull:
    """The block that the drafter's lane works on.

    first: the serial of the next token when it began. cut: the length to which the text was cut since; None if it was
    not. alive: the numbers of its tokens that no level has rejected.
    """

    asking: Requests[Tree]
    first: int
    cut: int | None = None
    alive: dict[int, None] = field(default_factory=dict)  # in order


@dataclass(slots=True)
class _Verification:
    """What the target's lane works on: tokens to judge, and their scores once these are computed."""

    asked: Submission
    done: PassResult | None = None


class Overlapped(Sequential):
    """The target on a lane of its own; a `Driver`. `scheduler` says which lane starts what."""

    def __init__(self, *given: Any, scheduler: Scheduler) -> None:
        super().__init__(*given)
        self._scheduler, self._lanes = scheduler, SimulatedLanes(self._pass, self.writer.clock)
        self._top = len(self.stack) - 1
        self._below = range(self._top)  # the levels on the drafter's lane
        self._block = self.stack[-2].block or 0
        self._undecided = UndecidedTokens()
        self._pull: _Pull | None = None
        self._verification: _Verification | None = None
        self._arrivals = 0  # tokens since the last verification began
        self._silent = False

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        oldest = self._undecided.oldest
        return self._pull.first if oldest is None and self._pull else oldest

    def cache_lengths(self, length: int) -> Event:
        """See `Driver.cache_lengths`; of the target only: the drafter's lane reports its own with each block."""
        return self._kv(range(self._top, self._top + 1), length)

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """See `Driver.round`."""
        while True:
            self._start(hierarchy, context, budget)
            verification = self._verification
            if verification and self._ready(verification):
                return (yield from self._judge(hierarchy, context, verification))
            request, done = self._lanes.ended()
            if request.level == self._top:
                assert verification, "the target's lane ends what it was given"
                verification.done = done
            else:
                yield from self._go_on(hierarchy, context, request, done)

    def _ready(self, verification: _Verification) -> bool:
        """Whether the verdict can be known: the scores are there, and the draft that is judged too."""
        return verification.done is not None and not (verification.asked.next and self._pull)

    def _start(self, hierarchy: Hierarchy, context: Context, budget: int) -> None:
        """Start what the scheduler orders."""
        undecided, pull, verification = self._undecided, self._pull, self._verification
        room = 0 if undecided.ends(hierarchy.ends) else budget - len(undecided)
        view = View(
            undecided=len(undecided),
            submitted=verification.asked.tokens if verification else 0,
            drafting=pull is not None,
            verifying=verification is not None,
            drafted=self._arrivals,
            block=self._block,
            room=room,
            silent=self._silent,
        )
        orders = self._scheduler.ended(view)
        if orders.verify:
            assert not verification and orders.verify.tokens <= len(undecided), f"{orders} where {view}"
            tree = undecided.first(orders.verify.tokens)
            verification = self._verification = _Verification(orders.verify)
            self._lanes.start(ScoreRequest(self._top, context, tree if orders.verify.next else tree.inner()[0]))
            self._arrivals = 0
        alone = verification and not verification.asked.tokens and not verification.asked.next
        if orders.draft:
            assert not pull and not alone and not self._silent and orders.draft <= room, f"{orders} where {view}"
            line = context + undecided.ids if len(undecided) else context
            asking = hierarchy.pull(self._top - 1, line, orders.draft)
            self._pull = pull = _Pull(asking, self.writer.next_serial)
            begun = next(asking)
            assert isinstance(begun, (DraftRequest, ScoreRequest)), "a block begins with a draft or a score"
            self._lanes.start(begun)
        assert not (alone and pull), "the verifier samples a token while a draft is in flight"

    def _go_on(
        self, hierarchy: Hierarchy, context: Context, request: DraftRequest | ScoreRequest, done: PassResult
    ) -> Generator[Event, None, None]:
        """A request of the drafter's lane has ended: use its result, and go on with the block."""
        pull = self._pull
        assert pull, "the drafter's lane ends what it was given"
        if pull.cut is not None:
            yield from self._drop(hierarchy, request, done)
            yield from self._forget(self._below, pull.cut)
            self._pull = None
            return
        answer: Answer
        if isinstance(request, DraftRequest):
            tree = answer = yield from self._written(request, done)
            pull.alive.update((token.serial, None) for token in tree.tokens)
        else:
            answer = done.logits
        while True:
            try:
                asked = pull.asking.send(answer)
            except StopIteration as end:
                self._arrived(end.value)
                break
            if isinstance(asked, (DraftRequest, ScoreRequest)):
                self._lanes.start(asked)
                return
            assert isinstance(asked, KeepRequest), f"two lanes, and {asked}"
            tree, kept = asked.judged.tree, asked.judged.verdict.path
            for node, token in enumerate(tree.tokens):
                if node not in kept:
                    pull.alive.pop(token.serial, None)
            own = answer = yield from self._keep(asked, done, self.writer.clock.now(), self._below)
            if own:
                pull.alive[own.serial] = None
        yield self._kv(self._below, len(context) + len(self._undecided))

    def _arrived(self, block: Tree) -> None:
        """A block has arrived: its tokens are queued."""
        self._pull = None
        self._undecided.append(block)
        self._arrivals += len(block)
        self._silent = not len(block)

    def _judge(
        self, hierarchy: Hierarchy, context: Context, verification: _Verification
    ) -> Generator[Event, None, Tree]:
        """Judge the submitted tokens; returns what the target commits."""
        (tokens, next_), done = verification.asked, verification.done
        assert done, "a verdict needs scores"
        undecided = self._undecided
        tree = undecided.first(min(tokens + next_, len(undecided)))
        drafted = len(tree) - tokens
        asking = hierarchy.judge(self._top, context, tree, done.logits, bonus=next_ and not drafted)
        asked = next(asking)
        assert isinstance(asked, KeepRequest)
        kept = len(asked.judged.verdict.path)
        whole = kept == len(tree)
        in_flight = self._pull.alive if self._pull else ()
        dropped = () if whole else (*undecided.numbers(behind=len(tree)), *in_flight)
        token = yield from self._keep(asked, done, done.t1, range(self._top, self._top + 1), dropped)
        if whole:
            undecided.judged(len(tree))
        else:
            undecided.clear()
            if self._pull:
                self._pull.cut = len(context) + kept
            else:
                yield from self._forget(self._below, len(context) + kept)
        self._verification = None
        if token or not whole:  # otherwise the drafter's text has not changed, and it would draft nothing again
            self._silent = False
        return result_of(asking, token)[0]
