"""The sequential driver: has every request of the hierarchy done by its level, one after another, and writes it down.

    hierarchy  --Draft | Score | Keep-->  driver  -->  the levels' runs
               <--Tree | rows | Token---          \\-->  trace writer, clock

The algorithm does not know who answers: the tests put an enumerating driver in this one's place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hsd_core.engine.hierarchy import Draft, Keep, Request, Score
from hsd_core.engine.plans import Drafted, Judged
from hsd_core.engine.writer import TraceWriter
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.protocol import Verified, Work
from hsd_core.levels.tree import Token, Tree, in_order
from hsd_core.trace import Event

T = TypeVar("T")


class Stopped(Exception):
    """The consumer asked the run to stop; raised between two forwards."""


class Sequential:
    """Runs what a hierarchy asks for. `runs`: the levels' states in the stack's order, a `Drafter` or `Scorer` each."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        runs: Sequence[Any],
        context: Sequence[int],
        *,
        writer: TraceWriter,
        stop: Callable[[], bool],
    ) -> None:
        self.stack, self.runs, self.context = stack, runs, context
        self.writer, self._stop = writer, stop
        self._outcomes: list[Drafted | Judged] = []  # of this round
        self._scored = (0, Work(0, 0, 0))  # when the last score began, and what it took

    def drive(self, asking: Generator[Request, Any, T]) -> Generator[Event, None, T]:
        """Answer every request; yields the events of what was done."""
        answer: Any = None
        while True:
            try:
                request = asking.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(request, Draft):
                answer = yield from self._draft(request)
            elif isinstance(request, Score):
                answer = self._score(request)
            else:
                answer = yield from self._keep(request)

    def take_outcomes(self) -> tuple[Drafted | Judged, ...]:
        """What was drafted and judged since the last call."""
        outcomes = tuple(self._outcomes)
        self._outcomes.clear()
        return outcomes

    def check_cancelled(self) -> None:
        """
        Raises:
            Stopped: the run is to end.
        """
        if self._stop():
            raise Stopped

    def kv(self, length: int) -> Event:
        """The cache lengths as they stand, over a context of `length` tokens."""
        caches = ((i, run) for i, run in enumerate(self.runs) if self.stack[i].level.has_cache)
        return self.writer.kv(caches, length)

    def _draft(self, asked: Draft) -> Generator[Event, None, Tree]:
        def stops(drafted: int, last: Any) -> bool:
            self.check_cancelled()  # a draft is one forward a token
            return asked.order.stops(drafted, last)

        i, start = asked.level, len(self.context)
        self.check_cancelled()
        t0 = self.writer.clock.now()
        proposal = self.runs[i].propose(self.context, replace(asked.order, stops=stops))
        t1 = self.writer.clock.now()
        tree: Tree = proposal.tree(lambda id_, source: self.writer.token(id_, level=i, how="draft", source=source))
        theta = asked.theta if proposal.theta is None else proposal.theta
        yield self.writer.draft(i, start, tree, proposal, t0, t1, theta)
        self._outcomes.append(Drafted(i, len(tree)))
        return tree

    def _score(self, asked: Score) -> Any:
        self.check_cancelled()
        t0 = self.writer.clock.now()
        logits, work = self.runs[asked.level].score(self.context, asked.tree)
        self._scored = (t0, work)
        return logits

    def _keep(self, asked: Keep) -> Generator[Event, None, Token | None]:
        t1 = self.writer.clock.now()
        i, below, start, verdict = asked.level, asked.below, asked.start, asked.verdict
        t0, work = self._scored
        yield self.writer.verify(asked, work, t0, t1)
        kept = len(verdict.path)
        cut = start + kept
        # A leaf may have been kept that was never processed, while nodes beside it were.
        line = asked.tree.is_chain and not asked.probed
        processed = cut if line else start + len(asked.path)
        for level, run in enumerate(self.runs):
            before = run.cached
            if before > processed or (before > start and not in_order(asked.path)):
                run.keep(start, asked.path)
                if run.cached < before:  # a path out of order may be moved together, and nothing lost
                    yield self.writer.rollback(level, before, run.cached)
        if below is not None:
            if len(asked.tree):
                self._outcomes.append(Judged(i, below, asked.tree.longest, kept))
            self.runs[below].observe(Verified(start, asked.probs[: kept + 1], asked.to_probs, asked.probed))
        token = None
        if verdict.token is not None:
            how = "correct" if verdict.residual is not None else "bonus"
            token = self.writer.token(verdict.token, level=i, how=how, source=self.stack[i].name)
            yield self.writer.own(asked, token)
        if i < len(self.stack) - 1:  # the target's is written after the commit
            yield self.kv(cut + (token is not None))
        return token
