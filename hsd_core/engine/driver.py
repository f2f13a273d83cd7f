"""The sequential driver: has every request of the hierarchy done by its level, one after another, and writes it down.

    hierarchy  --Draft | Score | Keep-->  driver  -->  the levels' runs
               <--Tree | rows | Token---          \\-->  trace writer, clock

The algorithm does not know who answers, and a run takes any `Driver`: the tests put an enumerating one in this one's
place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from torch import Tensor

from hsd_core.engine.requests import Answer, Asking, DraftRequest, KeepRequest, ScoreRequest
from hsd_core.engine.run_plans import Checked, Drafted
from hsd_core.engine.writer import TraceWriter
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.protocol import LevelRun, Verified, Work, drafter, scorer
from hsd_core.levels.tree import Token, Tree
from hsd_core.models.one_pass import in_order
from hsd_core.trace import Event, How

T = TypeVar("T")


class Stopped(Exception):
    """The consumer asked the run to stop; raised between two forwards."""


class Driver(Protocol):
    """Has what a hierarchy asks for done by the levels of one run, and writes it down."""

    def drive(self, asking: Asking[T]) -> Generator[Event, None, T]:
        """Answer every request; yields the events of what was done."""
        ...

    def take_outcomes(self) -> tuple[Drafted | Checked, ...]:
        """What was drafted and judged since the last call."""
        ...


class Drives(Protocol):
    """Makes the driver of one run: `runs` are its levels' states, in the stack's order.

    stop: asked before every forward; where it turns true the driver raises `Stopped`.
    """

    def __call__(
        self, stack: Sequence[StackEntry], runs: Sequence[LevelRun], writer: TraceWriter, stop: Callable[[], bool]
    ) -> Driver: ...


class Sequential:
    """One request after another; a `Driver`."""

    def __init__(
        self, stack: Sequence[StackEntry], runs: Sequence[LevelRun], writer: TraceWriter, stop: Callable[[], bool]
    ) -> None:
        self.stack, self.runs, self.writer, self._stop = stack, runs, writer, stop
        self._outcomes: list[Drafted | Checked] = []  # of this round
        self._scored = (0, Work(0, 0, 0))  # when the last score began, and what it took

    def drive(self, asking: Asking[T]) -> Generator[Event, None, T]:
        """See `Driver.drive`."""
        answer: Answer = None
        while True:
            try:
                request = asking.send(answer)  # the first time nothing has been asked, and None begins
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(request, DraftRequest):
                answer = yield from self._draft(request)
            elif isinstance(request, ScoreRequest):
                answer = self._score(request)
            else:
                answer = yield from self._keep(request)

    def take_outcomes(self) -> tuple[Drafted | Checked, ...]:
        """See `Driver.take_outcomes`."""
        outcomes = tuple(self._outcomes)
        self._outcomes.clear()
        return outcomes

    def _draft(self, asked: DraftRequest) -> Generator[Event, None, Tree]:
        def stops(drafted: int, last: Tensor | None) -> bool:
            unless_stopped(self._stop)  # a draft is one forward a token
            return asked.order.stops(drafted, last)

        i, context = asked.level, asked.context
        unless_stopped(self._stop)
        t0 = self.writer.clock.now()
        proposal = drafter(self.runs[i]).propose(context, replace(asked.order, stops=stops))
        t1 = self.writer.clock.now()
        tree: Tree = proposal.tree(lambda id_, source: self.writer.token(id_, level=i, how="draft", source=source))
        theta = asked.theta if proposal.theta is None else proposal.theta
        yield self.writer.draft(i, len(context), tree, proposal, t0, t1, theta)
        self._outcomes.append(Drafted(i, len(tree)))
        return tree

    def _score(self, asked: ScoreRequest) -> Tensor:
        unless_stopped(self._stop)
        t0 = self.writer.clock.now()
        logits, work = scorer(self.runs[asked.level]).score(asked.context, asked.tree)
        self._scored = (t0, work)
        return logits

    def _keep(self, asked: KeepRequest) -> Generator[Event, None, Token | None]:
        t1 = self.writer.clock.now()
        i, below, judged, start = asked.level, asked.below, asked.judged, len(asked.context)
        tree, verdict, path = judged.tree, judged.verdict, judged.path
        t0, work = self._scored
        yield self.writer.verify(asked, work, t0, t1)
        kept = len(verdict.path)
        # A leaf may have been kept that was never processed, while nodes beside it were.
        processed = start + (kept if tree.is_chain and not asked.probed else len(path))
        for level, run in enumerate(self.runs):
            before = run.cached
            if before > processed or (before > start and not in_order(path)):
                run.keep(start, path)
                if run.cached < before:  # a path out of order may be moved together, and nothing lost
                    yield self.writer.rollback(level, before, run.cached)
        if below is not None:
            if len(tree):
                self._outcomes.append(Checked(i, below, tree.longest, kept))
            dists, _ = judged.line
            self.runs[below].observe(Verified(start, dists[: kept + 1], asked.to_probs, asked.probed))
        token = None
        if verdict.token is not None:
            how: How = "correct" if verdict.residual is not None else "bonus"
            token = self.writer.token(verdict.token, level=i, how=how, source=self.stack[i].name)
            yield self.writer.own(asked, token)
        if i < len(self.stack) - 1:  # the target's is written after the commit
            yield kv(self.writer, self.stack, self.runs, start + kept + (token is not None))
        return token


def unless_stopped(stop: Callable[[], bool]) -> None:
    """
    Raises:
        Stopped: the run is to end.
    """
    if stop():
        raise Stopped


def kv(writer: TraceWriter, stack: Sequence[StackEntry], runs: Sequence[LevelRun], length: int) -> Event:
    """The cache lengths as they stand, over a context of `length` tokens."""
    return writer.kv(((i, run) for i, run in enumerate(runs) if stack[i].level.has_cache), length)
