"""The driver of two lanes: the target verifies on one while what stands below it drafts on the other.

    scheduler  --counts-->  Orders: draft, verify             when
    hierarchy  --requests of `pull` and `judge`-->  lanes     what

Each lane runs one request at a time; how, and on whose clock, the lanes say (`under_way`). What ends first is taken up
first, on one clock that never goes back; what the driver itself takes to judge is on it too.

A rejection cuts the text behind which the drafter works. What is under way there is run to the end of its request and
then dropped, and counted; nothing else ever is. The verifier's own token stands where a token of the drafter might have
only where no draft is under way: whether there is one may depend on a token's value.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from hsd_core.core.driver import PassResult, Sequential, result_of
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import LevelRun
from hsd_core.core.requests import Answer, Asking, DraftRequest, KeepRequest, ScoreRequest
from hsd_core.core.tree import Tree
from hsd_core.core.writer import TraceWriter
from hsd_core.grammar.strategies import Scheduler, Submission, View
from hsd_core.models.context import Context
from hsd_core.systems.lanes.under_way import Reckoned, Undecided


@dataclass(slots=True)
class _Pull:
    """What the drafter's lane is at: a block on its way up.

    born: the number of the next token when it began. length: of the text that it drafts behind. cut: to how many
    tokens that was cut since; None where it was not. alive: the numbers of its tokens that no level has rejected.
    """

    asking: Asking[Tree]
    born: int
    length: int
    cut: int | None = None
    alive: dict[int, None] = field(default_factory=dict)  # in order


@dataclass(slots=True)
class _Verification:
    """What the target's lane is at: tokens to judge, and their scores once it has come to the end of them."""

    asked: Submission
    done: PassResult | None = None

    @property
    def over(self) -> bool:
        return self.done is not None


class Overlapped(Sequential):
    """The target on a lane of its own; a `Driver`. `scheduler` says which lane starts what, `lanes` how it is run."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        runs: Sequence[LevelRun],
        writer: TraceWriter,
        stop: Callable[[], bool],
        *,
        scheduler: Scheduler,
    ) -> None:
        super().__init__(stack, runs, writer, stop)
        self._scheduler, self._lanes = scheduler, Reckoned(self._pass, writer.clock)
        self._top = len(stack) - 1
        self._below = range(self._top)  # the levels on the drafter's lane
        self._block = stack[-2].block or 0
        self._undecided = Undecided()
        self._pull: _Pull | None = None
        self._verification: _Verification | None = None
        self._arrivals = 0  # tokens since the last verification began
        self._silent = False

    @property
    def pending(self) -> int | None:  # type: ignore[override]
        """See `Driver.pending`."""
        oldest = self._undecided.oldest
        return self._pull.born if oldest is None and self._pull else oldest

    def at_rest(self, length: int) -> Event:
        """See `Driver.at_rest`; the target's alone: the drafter's lane writes its own when a block is there."""
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

    def _start(self, hierarchy: Hierarchy, context: Context, budget: int) -> None:
        """Have the lanes start what the scheduler says."""
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
            self._pull = pull = _Pull(asking, self.writer.born, len(line))
            begun = next(asking)
            assert isinstance(begun, (DraftRequest, ScoreRequest)), "a block begins with a draft or a score"
            self._lanes.start(begun)
        assert not (alone and pull), "a token of the verifier's own beside a draft"

    def _ready(self, verification: _Verification) -> bool:
        """Whether the verdict can be known: the scores are there, and the draft that is judged too."""
        return verification.over and not (verification.asked.next and self._pull)

    def _go_on(
        self, hierarchy: Hierarchy, context: Context, request: DraftRequest | ScoreRequest, done: PassResult
    ) -> Generator[Event, None, None]:
        """The drafter's lane has come to the end of a request: look at what came out, and go on behind it."""
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
        """A block is there: its tokens wait behind the others."""
        self._pull = None
        self._undecided.append(block)
        self._arrivals += len(block)
        self._silent = not len(block)

    def _judge(
        self, hierarchy: Hierarchy, context: Context, verification: _Verification
    ) -> Generator[Event, None, Tree]:
        """The verdict on what was submitted: what the target commits."""
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
        under_way = self._pull.alive if self._pull else ()
        dropped = () if whole else (*undecided.numbers(behind=len(tree)), *under_way)
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
        if token or not whole:  # otherwise the drafter's text is the same, and its choices behind it have been made
            self._silent = False
        return result_of(asking, token)[0]
