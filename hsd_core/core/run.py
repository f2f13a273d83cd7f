"""`run`: one generation by one stack, as a stream of events.

The engine knows token ids and numbers only. It yields each event as it happens; its clock is stopped while the
consumer holds the generator. Closing the generator, or a watcher whose `stop` returns true, ends the run between two
forwards and frees every level's state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from hsd_core.core import events as trace
from hsd_core.core.choices import Choices, SeededChoices
from hsd_core.core.clock import EngineClock
from hsd_core.core.driver import Driver, MakeDriver, Stopped, raise_if_stopped
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import CommittedIds, LevelRun, StackEntry, TakesPart, scorer
from hsd_core.core.run_plans import Replanner, Round, RunPlan
from hsd_core.core.tree import Tree
from hsd_core.core.writer import TraceWriter
from hsd_core.grammar import lanes_of, rule_of
from hsd_core.grammar.stack_text import LevelSpec, format_stack
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling

TOP_OF_ROW = 8
PREFILL_CHUNK = 128  # a long prompt is processed in chunks, so that a stop takes effect between them
JOINING_ROWS = 8  # a level that joins with fewer tokens missed processes them in its first forward


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run.

    ends: ids that end the text. heads: how many likeliest tokens of each row go into the trace. choices: the source of
    random choices; by default one with this seed. replan: chooses between rounds which levels run, with which block
    lengths; without it all run as written.
    """

    sampling: Sampling
    seed: int
    max_new_tokens: int
    ends: frozenset[int] = frozenset()
    heads: int = TOP_OF_ROW
    choices: Choices | None = None
    replan: Replanner | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Callbacks and clock of a run.

    stop: called before every forward; True ends the run with reason "stopped". reading: called after every chunk of the
    prompt with the level, the tokens it has read, and their total. clock: gives the events their times; by default the
    machine's time. With a simulated clock the header must say so.
    """

    stop: Callable[[], bool] = lambda: False
    reading: Callable[[int, int, int], None] = lambda level, done, total: None
    clock: EngineClock = field(default_factory=EngineClock)


class Stack(Protocol):
    """The levels of a run, cheapest first, the target last; implemented by `stacks.prepared`."""

    @property
    def entries(self) -> Sequence[StackEntry]: ...

    @property
    def drives(self) -> MakeDriver:
        """Makes the driver that runs the hierarchy's requests on the levels."""
        ...

    def header(self, prompt_ids: Sequence[int], settings: RunSettings) -> trace.Header:
        """The first event of such a run.

        Raises:
            StackError: the stack cannot run with these settings.
        """
        ...

    def open(self, capacity: int, settings: RunSettings) -> Iterator[LevelRun]:
        """The levels' states for a run over a context of at most `capacity` tokens, the target's first."""
        ...


def run(
    stack: Stack, prompt_ids: Sequence[int], settings: RunSettings, watcher: Watcher | None = None
) -> Iterator[Event]:
    """Decode after the prompt.

    Yields:
        Header, Prefill, then rounds (Plan and Prefill where it changes, Draft, Verify, Correct or Bonus,
        Rollback, Kv, Commit, Report), Footer.
    Raises:
        StackError: the stack cannot run with these settings. ValueError: the prompt is empty or longer than the
        context.
    """
    if not prompt_ids:
        raise ValueError("the prompt is empty; give at least one token")
    if settings.max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {settings.max_new_tokens}; ask for at least 1")
    header = stack.header(prompt_ids, settings)
    return _Run(stack, Context(prompt_ids), settings, watcher or Watcher()).events(header)


class _Run:
    """The state of one run: the context, the levels' states, the clock."""

    def __init__(self, stack: Stack, context: Context, settings: RunSettings, watcher: Watcher) -> None:
        entries, sampling, ends = stack.entries, settings.sampling, settings.ends
        self.stack, self.entries, self.context, self.prompt = stack, entries, context, len(context)
        self.settings, self.ends, self.replan = settings, ends, settings.replan
        self.clock, self.reading, self.stop = watcher.clock, watcher.reading, watcher.stop
        self.limit, self.limited_by = _limit(entries, self.prompt, settings.max_new_tokens)
        self.writer = TraceWriter(self.clock, len(entries), self.prompt, settings.heads, _bounded(entries, sampling))
        self.runs: list[LevelRun] = []
        self.contexts = [entry.level.max_positions for entry in entries]
        choices = SeededChoices(settings.seed) if settings.choices is None else settings.choices
        self.hierarchy = Hierarchy(entries, sampling=sampling, choices=choices, ends=ends, contexts=self.contexts)
        self.driver: Driver = stack.drives(entries, self.runs, self.writer, watcher.stop)

    def events(self, header: trace.Header) -> Iterator[Event]:
        """Open the levels, decode, and always close them."""
        decoding = self._decode()
        try:
            with self.clock.stopped():
                yield header
                # The budget bounds every draft, so the context is never longer than the text.
                for run_ in self.stack.open(self.prompt + self.limit, self.settings):
                    self.runs.insert(0, run_)
            for event in decoding:
                with self.clock.stopped():
                    yield event
        finally:
            decoding.close()
            for run_ in self.runs:
                run_.close()

    def _decode(self) -> Generator[Event, None, None]:
        reason: trace.Ending = "stopped"
        started = prefilled = last = self.clock.now()
        try:
            if self.replan is not None:
                t0 = self.clock.now()
                yield self._follow(self.replan.first(), self.replan.longest, t0)
            yield from self._rest()
            prefilled = last = yield from self._prefill(None)
            while reason == "stopped":
                committed = yield from self.driver.round(self.hierarchy, self.context, self._budget())
                self.context = self.context + committed.ids
                commit = self.writer.commit(committed, self.driver.pending)
                last = commit.t
                yield commit
                yield from self._commit(committed)
                if committed.ids[-1] in self.ends:
                    reason = "eos"
                elif self._budget() <= 0:
                    reason = self.limited_by
                past = Round(self.writer.round, tuple(committed.ids), self.driver.take_outcomes())
                self.writer.round += 1
                if reason == "stopped":
                    if self.replan is not None:
                        yield from self._replan(self.replan, past)
                    yield from self._rest()
        except Stopped:
            pass
        took = {"prefill_ns": prefilled - started, "decode_ns": last - prefilled}
        yield self.writer.footer(reason, **took)

    def _replan(self, replan: Replanner, past: Round) -> Generator[Event, None, None]:
        """Report the finished round to the replanner; the next round follows the plan that it chooses, if any."""
        t0 = self.clock.now()
        plan = replan.after(past)
        if plan is not None:
            yield self._follow(self._with_room(plan), replan.longest, t0)
            yield from self._prefill(self.writer.round)

    def _rest(self) -> Generator[Event, None, None]:
        """Leave out levels whose context is full, if levels run one after another."""
        plan = self.hierarchy.plan
        left = self._with_room(plan)
        if left.levels != plan.levels and _lanes(self.entries) == 1:
            yield self._follow(left, max(plan.blocks), self.clock.now())

    def _with_room(self, plan: RunPlan) -> RunPlan:
        """The plan without the levels below the target whose context is full."""
        full = [i for i in plan.levels[:-1] if (self.contexts[i] or math.inf) <= len(self.context)]
        if not full:
            return plan
        names = {i: self.entries[i].level.about.label for i in full}
        why = "; ".join(f"the context of {name}, {self.contexts[i]} tokens, is full" for i, name in names.items())
        blocks = tuple(t for i, t in zip(plan.levels, plan.blocks, strict=False) if i not in full)
        return RunPlan(tuple(i for i in plan.levels if i not in full), blocks, why=why)

    def _follow(self, plan: RunPlan, longest: int, t0: int) -> Event:
        plan.check([entry.level.can_verify for entry in self.entries], longest)
        self.hierarchy.follow(plan)
        for i, run_ in enumerate(self.runs):
            run_.observe(TakesPart(i in plan.levels))
        return self.writer.plan(plan, format_stack(_planned(self.entries, plan)), t0)

    def _prefill(self, round_: int | None) -> Generator[Event, None, int]:
        """Process the part of the context that levels of the plan have not seen, except its last token.

        From the target down: exits and drafters that read its states need not compute them again. Before the first
        round every level writes an event. Later (`round_`) a level that lacks only a few tokens processes them in its
        next forward.

        Returns:
            The time, ns.
        """
        now = 0
        for i in reversed(range(len(self.entries))):
            run_, has_cache = self.runs[i], self.entries[i].level.has_cache
            end = len(self.context) - 1 if has_cache else 0
            missed = max(0, end - run_.cached)
            t0 = self.clock.now()
            note = run_.observe(CommittedIds(self.context)) if round_ is None else None
            full = i < len(self.entries) - 1 and len(self.context) >= (self.contexts[i] or math.inf)
            rests = full or i not in self.hierarchy.plan.levels
            if not rests and (round_ is None or missed >= JOINING_ROWS):
                while run_.cached < end:
                    raise_if_stopped(self.stop)
                    logits, _ = scorer(run_).score(self.context.cut(min(run_.cached + PREFILL_CHUNK, end)))
                    self.hierarchy.check(i, logits)  # it waits for the forward, so that the time is right
                    with self.clock.stopped():
                        self.reading(i, run_.cached, end)
                now = self.clock.now()
                yield trace.Prefill(i, len(self.context) if round_ is None else missed, t0, now, round_)
            if note is not None:
                yield self.writer.report(i, note, self.clock.now())
        return now

    def _commit(self, committed: Tree) -> Generator[Event, None, None]:
        for i, run_ in enumerate(self.runs):
            t0 = self.clock.now()
            note = run_.observe(CommittedIds(committed.ids))
            if note is not None:
                yield self.writer.report(i, note, t0)
        yield self.driver.cache_lengths(len(self.context))

    def _budget(self) -> int:
        return self.limit - (len(self.context) - self.prompt)


def _lanes(stack: Sequence[StackEntry]) -> int:
    return len({*lanes_of([entry.spec for entry in stack])})


def _limit(stack: Sequence[StackEntry], prompt: int, asked: int) -> tuple[int, trace.Ending]:
    """How many tokens may be committed after a prompt of this length, and the reason with which such a run ends.

    Raises:
        ValueError: the prompt fills the context.
    """
    # A level below the target rests when its context is full; inner levels of a pipeline cannot, so they bound the
    # text.
    bounding = stack[1:] if _lanes(stack) > 2 else stack[-1:]
    context = min((s.level.max_positions for s in bounding if s.level.max_positions is not None), default=None)
    if context is None:
        return asked, "length"
    if prompt >= context:
        raise ValueError(f"the prompt has {prompt} tokens, the context {context}; shorten the prompt")
    return (context - prompt, "context") if context - prompt < asked else (asked, "length")


def _bounded(stack: Sequence[StackEntry], sampling: Sampling) -> list[int]:
    """The verifiers whose bounds are written: rules by position, when sampling (greedy ones reach the bound)."""
    return [i for i in range(1, len(stack)) if not sampling.greedy and rule_of(stack[i].spec).by_place]


def _planned(stack: Sequence[StackEntry], plan: RunPlan) -> list[LevelSpec]:
    """A plan as specs of the stack, every T written."""
    blocks = [*plan.blocks, None]
    return [replace(stack[i].spec, block=block) for i, block in zip(plan.levels, blocks, strict=True)]
