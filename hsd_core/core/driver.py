"""The sequential driver: it runs every request of the hierarchy on its level, one after another, and records it.

    hierarchy  --Draft | Score | Keep-->  driver  -->  the levels' runs
               <--Tree | rows | Token---          \\-->  trace writer, clock

The algorithm does not depend on who answers: a run takes any `Driver`, and tests use one that enumerates.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

from torch import Tensor

from hsd_core.core.events import Event, How
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import LevelRun, Proposal, StackEntry, Verified, Work, drafter, scorer
from hsd_core.core.notes import Note, Threshold, added, gauges, noted
from hsd_core.core.requests import Answer, DraftRequest, KeepRequest, Requests, ScoreRequest
from hsd_core.core.run_plans import Checked, Drafted
from hsd_core.core.tree import Token, Tree
from hsd_core.core.writer import TraceWriter
from hsd_core.models.context import Context
from hsd_core.models.one_pass import in_order

T = TypeVar("T")


class Stopped(Exception):
    """The run was asked to stop; raised between two forwards."""


class Driver(Protocol):
    """Runs the requests of a hierarchy on the levels of one run, and records them."""

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """The tokens that the target commits after the context, at most `budget`; yields the events of the round."""
        ...

    def cache_lengths(self, length: int) -> Event:
        """The cache lengths after a commit, over a context of `length` tokens."""
        ...

    @property
    def pending(self) -> int | None:
        """The first serial that may still be judged after a commit; None if every token is decided."""
        ...

    def take_outcomes(self) -> tuple[Drafted | Checked, ...]:
        """What was drafted and judged since the last call."""
        ...


class MakeDriver(Protocol):
    """Makes the driver of one run: `runs` are its levels' states, in the stack's order.

    stop: asked before every forward; where it turns true the driver raises `Stopped`.
    """

    def __call__(
        self, stack: Sequence[StackEntry], runs: Sequence[LevelRun], writer: TraceWriter, stop: Callable[[], bool]
    ) -> Driver: ...


class PassResult(NamedTuple):
    """A finished draft or score: its result, its work, its begin and end (ns), and the gauges' notes."""

    result: Proposal | Tensor
    work: Work
    t0: int
    t1: int
    measured: Mapping[str, Note]

    @property
    def proposal(self) -> Proposal:
        assert isinstance(self.result, Proposal)
        return self.result

    @property
    def logits(self) -> Tensor:
        assert isinstance(self.result, Tensor)
        return self.result


class Sequential:
    """One request after another; a `Driver`."""

    def __init__(
        self, stack: Sequence[StackEntry], runs: Sequence[LevelRun], writer: TraceWriter, stop: Callable[[], bool]
    ) -> None:
        self.stack, self.runs, self.writer, self._stop = stack, runs, writer, stop
        self._gauges = [made() for made in gauges()]
        self._outcomes: list[Drafted | Checked] = []  # of this round
        self._scored: PassResult  # the last score

    pending = None

    def round(self, hierarchy: Hierarchy, context: Context, budget: int) -> Generator[Event, None, Tree]:
        """See `Driver.round`."""
        return (yield from self.drive(hierarchy.round(context, budget)))

    def cache_lengths(self, length: int) -> Event:
        """See `Driver.cache_lengths`."""
        return self._kv(range(len(self.runs)), length)

    def drive(self, requests: Requests[T]) -> Generator[Event, None, T]:
        """Answer every request, one after another."""
        answer: Answer = None
        while True:
            try:
                request = requests.send(answer)  # None starts the generator
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(request, DraftRequest):
                answer = yield from self._written(request, self._pass(request))
            elif isinstance(request, ScoreRequest):
                self._scored = self._pass(request)
                answer = self._scored.logits
            else:
                assert isinstance(request, KeepRequest), f"a sequential driver cannot answer {request}"
                answer = yield from self._keep(request, self._scored, self.writer.clock.now(), range(len(self.runs)))

    def take_outcomes(self) -> tuple[Drafted | Checked, ...]:
        """See `Driver.take_outcomes`."""
        outcomes = tuple(self._outcomes)
        self._outcomes.clear()
        return outcomes

    def _pass(self, asked: DraftRequest | ScoreRequest) -> PassResult:
        """Let a level draft or score."""
        raise_if_stopped(self._stop)
        clock = self.writer.clock
        self._measured()  # drops what was measured before this pass
        t0 = clock.now()
        if isinstance(asked, ScoreRequest):
            logits, work = scorer(self.runs[asked.level]).score(asked.context, asked.tree)
            return PassResult(logits, work, t0, clock.now(), self._measured())
        proposal = self._proposed(asked)
        return PassResult(proposal, proposal.work, t0, clock.now(), self._measured())

    def _proposed(self, asked: DraftRequest) -> Proposal:
        def stops(drafted: int, last: Tensor | None) -> bool:
            raise_if_stopped(self._stop)  # a draft is one forward a token
            return order.stops(drafted, last)

        order = asked.order
        return drafter(self.runs[asked.level]).propose(asked.context, replace(order, stops=stops))

    def _measured(self) -> dict[str, Note]:
        """The gauges' notes on what this thread did since the last call."""
        return noted(*[gauge() for gauge in self._gauges])

    def _written(
        self, asked: DraftRequest, done: PassResult, *, stale: bool = False, onto: Sequence[int] = ()
    ) -> Generator[Event, None, Tree]:
        """Record a draft. stale, onto: see `TraceWriter.draft`."""
        i, proposal = asked.level, done.proposal
        tree: Tree = proposal.tree(lambda id_, source: self.writer.token(id_, level=i, how="draft", source=source))
        theta = asked.theta if (own := Threshold.of(proposal)) is None else own.theta
        at = len(asked.context)
        yield self.writer.draft(i, at, tree, proposal, done.t0, done.t1, theta, done.measured, stale=stale, onto=onto)
        if not stale:
            self._outcomes.append(Drafted(i, len(tree)))
        return tree

    def _drop(
        self, hierarchy: Hierarchy, request: DraftRequest | ScoreRequest, done: PassResult
    ) -> Generator[Event, None, None]:
        """Record a pass whose text was cut while it ran."""
        if isinstance(request, DraftRequest):
            yield from self._written(request, done, stale=True)
        else:
            yield self.writer.stale(request, done.work, hierarchy.below(request.level), done.t0, done.t1)

    def _forget(self, levels: Sequence[int], length: int) -> Generator[Event, None, None]:
        """These levels forget the text after its first `length` tokens."""
        for level in levels:
            run = self.runs[level]
            before = run.cached
            if before > length:
                run.keep(length, ())
                yield self.writer.rollback(level, before, run.cached)

    def _keep(
        self, asked: KeepRequest, scored: PassResult, t1: int, levels: Sequence[int], dropped: Sequence[int] = ()
    ) -> Generator[Event, None, Token | None]:
        """Record a verdict, and let `levels` forget what it did not keep.

        Args:
            t1: when the verification ended. dropped: serials of tokens after the judged ones that go with a rejected
                one.
        """
        i, below, judged, start = asked.level, asked.below, asked.judged, len(asked.context)
        tree, verdict, path = judged.tree, judged.verdict, judged.path
        measured = added(scored.measured, self._measured())  # rows are read when they are judged
        yield self.writer.verify(asked, scored.work, scored.t0, t1, dropped, measured)
        kept = verdict.accepted
        # A kept leaf may be unprocessed while its siblings are processed. If no token follows the path, its last token
        # is processed again to get the next row, even by a level that has processed it.
        whole = tree.is_chain and not asked.probed and verdict.token is not None
        processed = start + (kept if whole else len(path))
        cached = [self.runs[level].cached for level in levels]  # before any cut: levels may share a cache
        for level, before in zip(levels, cached, strict=True):
            run = self.runs[level]
            if before > processed or (before > start and not in_order(path)):
                run.keep(start, path)
                if run.cached < before:  # a path out of order may be compacted without losing a position
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
            yield self._kv(levels, start + kept + (token is not None))
        return token

    def _kv(self, levels: Sequence[int], length: int) -> Event:
        """The present cache lengths of these levels, over a context of `length` tokens."""
        return self.writer.kv(((i, self.runs[i]) for i in levels if self.stack[i].level.has_cache), length)


def result_of(requests: Requests[T], answer: Answer) -> T:
    """The result of a generator of requests, given the answer to its last one.

    Raises:
        AssertionError: it yields another request.
    """
    try:
        requests.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("that was not its last request")


def raise_if_stopped(stop: Callable[[], bool]) -> None:
    """
    Raises:
        Stopped: `stop` says so.
    """
    if stop():
        raise Stopped
