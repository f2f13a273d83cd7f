"""`run`: one generation by one stack, as a stream of events.

The engine knows token ids and numbers only. It yields each event as it happens; its clock stands still while the
consumer holds the generator. Closing the generator, or a `stop` that turns true, ends the run between two
forwards and frees every level's state.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from msgspec import UNSET

from hsd_core.core import events as trace
from hsd_core.core.choices import Choices, SeededChoices
from hsd_core.core.clock import EngineClock
from hsd_core.core.driver import Driver, Drives, Stopped, unless_stopped
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import CommittedIds, Level, LevelRun, Shows, TakesPart, scorer
from hsd_core.core.run_plans import Replanner, Round, RunPlan
from hsd_core.core.tree import Tree
from hsd_core.core.writer import TraceWriter
from hsd_core.grammar import fan_of, lanes_of, rule_of, scheduler_of, theta_of
from hsd_core.grammar.keys import GROW, REPLACE, TREE
from hsd_core.grammar.stack_text import LevelSpec, StackError, check_order, format_stack, stack_lossless
from hsd_core.levels.chain_rows import ChainRows
from hsd_core.levels.largest import largest, most_nodes
from hsd_core.levels.memory import pass_bytes
from hsd_core.levels.shared import open_levels, shares
from hsd_core.models import QUANTISED
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.chosen import check_apart, chosen_driver, overlap_of
from hsd_core.systems.lanes.reach import WIDTH

TOP_OF_ROW = 8
PREFILL_CHUNK = 128  # a long prompt goes through in pieces, so that a stop is heard between
JOINING_ROWS = 8  # a level that joins with fewer tokens missed takes them along in its first forward


def run(
    stack: Sequence[StackEntry],
    prompt_ids: Sequence[int],
    sampling: Sampling,
    seed: int,
    *,
    max_new_tokens: int,
    ends: frozenset[int] = frozenset(),
    heads: int = TOP_OF_ROW,
    choices: Choices | None = None,
    stop: Callable[[], bool] = lambda: False,
    about: dict[str, Any] | None = None,
    replan: Replanner | None = None,
    clock: EngineClock | None = None,
    reading: Callable[[int, int, int], None] = lambda level, done, total: None,
    driver: Drives | None = None,
) -> Iterator[Event]:
    """Decode after `prompt_ids` with a stack (cheapest level first, the target last).

    Args:
        ends: ids that end the text. heads: how many likeliest tokens of each row go into the trace.
        choices: where random choices come from; by default a generator seeded with `seed`.
        stop: asked before every forward; True ends the run with reason "stopped".
        about: further fields of the header (preset, machine, recorded, versions, title, profile).
        replan: chooses between rounds which levels run, with which block lengths; without it all run as written.
        reading: told, piece by piece, how many tokens of the prompt a level has read, and of how many.
        driver: has the levels do what the hierarchy asks for; by default as the target's scheduler says.
        clock: stamps the events; by default the machine's own time. A simulated one belongs in a header that says so.
    Yields:
        Header, Prefill, then rounds (Plan and Prefill where it changes, Draft, Verify, Correct or Bonus,
        Rollback, Kv, Commit, Store), Footer.
    Raises:
        StackError: the stack cannot work. ValueError: the prompt is empty or longer than the context.
    """
    _check(stack)
    overlap = overlap_of(stack, simulated=bool((about or {}).get("simulated")))
    if overlap != "none" and replan is not None:
        raise StackError("plans change between rounds, and @with= lets rounds overlap; leave @with= or auto out")
    if not prompt_ids:
        raise ValueError("the prompt is empty; give at least one token")
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens}; ask for at least 1")
    # A level below the target whose context is full rests; a pipeline's inner ones cannot, so they bound the text.
    bounding = stack[1:] if _lanes(stack) > 2 else stack[-1:]
    context = min((s.level.max_positions for s in bounding if s.level.max_positions is not None), default=None)
    limited_by: trace.Ending = "length"
    limit = max_new_tokens
    if context is not None:
        if len(prompt_ids) >= context:
            raise ValueError(f"the prompt has {len(prompt_ids)} tokens, the context {context}; shorten the prompt")
        if context - len(prompt_ids) < limit:
            limit, limited_by = context - len(prompt_ids), "context"
    choices = SeededChoices(seed) if choices is None else choices
    about = {**(about or {}), **({} if replan is None else {"replan": replan.settings()})}
    header = _header(stack, prompt_ids, sampling, seed, max_new_tokens, {**about, "overlap": overlap})
    clock = EngineClock() if clock is None else clock
    return _Run(
        stack,
        Context(prompt_ids),
        sampling,
        choices,
        ends,
        heads,
        stop,
        limit,
        limited_by,
        replan,
        clock,
        reading,
        driver or chosen_driver(stack),
    ).events(header)


class _Run:
    """The state of one run: the context, the levels' own states, the clock."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        context: Context,
        sampling: Sampling,
        choices: Choices,
        ends: frozenset[int],
        heads: int,
        stop: Callable[[], bool],
        limit: int,
        limited_by: trace.Ending,
        replan: Replanner | None,
        clock: EngineClock,
        reading: Callable[[int, int, int], None],
        drives: Drives,
    ) -> None:
        self.stack, self.context, self.ends, self.replan = stack, context, ends, replan
        self.limit, self.limited_by, self.prompt = limit, limited_by, len(context)
        self.clock, self.reading, self.stop = clock, reading, stop
        self.writer = TraceWriter(self.clock, len(stack), len(context), heads, _bounded(stack, sampling))
        self.runs: list[LevelRun] = []
        self.contexts = [entry.level.max_positions for entry in stack]
        self.hierarchy = Hierarchy(stack, sampling=sampling, choices=choices, ends=ends, contexts=self.contexts)
        self.driver: Driver = drives(stack, self.runs, self.writer, stop)

    def events(self, header: trace.Header) -> Iterator[Event]:
        """Open the levels, decode, and close them whatever happens."""
        decoding = self._decode()
        try:
            with self.clock.stopped():
                yield header
                # The budget bounds every draft, so the context never outgrows the text (and may fill the model's).
                nodes = most_nodes(largest(self.stack, None if self.replan is None else self.replan.longest))
                lanes = lanes_of([entry.spec for entry in self.stack])
                for run_ in open_levels([e.level for e in self.stack], self.prompt + self.limit, nodes, lanes=lanes):
                    self.runs.insert(0, run_)
                if (target := self.stack[-1].level).dtype in QUANTISED and target.device == "cpu":
                    self.runs[-1] = ChainRows(scorer(self.runs[-1]), greedy=self.hierarchy.sampling.greedy)
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
        """Tell the replanner of the round that is over; where it chooses another plan, the next round follows it."""
        t0 = self.clock.now()
        plan = replan.after(past)
        if plan is not None:
            yield self._follow(self._with_room(plan), replan.longest, t0)
            yield from self._prefill(self.writer.round)

    def _rest(self) -> Generator[Event, None, None]:
        """From now on a level whose context is full does not take part, where levels work one after another."""
        plan = self.hierarchy.plan
        left = self._with_room(plan)
        if left.levels != plan.levels and _lanes(self.stack) == 1:
            yield self._follow(left, max(plan.blocks), self.clock.now())

    def _with_room(self, plan: RunPlan) -> RunPlan:
        """The plan without the levels below the target whose context holds no more than the text has."""
        full = [i for i in plan.levels[:-1] if (self.contexts[i] or math.inf) <= len(self.context)]
        if not full:
            return plan
        said = (f"the context of {self.stack[i].level.label}, {self.contexts[i]} tokens, is full" for i in full)
        blocks = tuple(t for i, t in zip(plan.levels, plan.blocks, strict=False) if i not in full)
        return RunPlan(tuple(i for i in plan.levels if i not in full), blocks, why="; ".join(said))

    def _follow(self, plan: RunPlan, longest: int, t0: int) -> Event:
        plan.check([entry.level.can_verify for entry in self.stack], longest)
        self.hierarchy.follow(plan)
        for i, run_ in enumerate(self.runs):
            run_.observe(TakesPart(i in plan.levels))
        return self.writer.plan(plan, format_stack(_planned(self.stack, plan)), t0)

    def _prefill(self, round_: int | None) -> Generator[Event, None, int]:
        """Give every level of the plan what it has not seen: all but the last token goes through the models now.

        From the target down: what it has computed, exits and drafters that read its states need not compute again.
        Before the first round each level is written down. Later (`round_`) a level that lacks a few tokens takes them
        along in its next forward.

        Returns:
            The time.
        """
        now = 0
        for i in reversed(range(len(self.stack))):
            run_, has_cache = self.runs[i], self.stack[i].level.has_cache
            end = len(self.context) - 1 if has_cache else 0
            missed = max(0, end - run_.cached)
            t0 = self.clock.now()
            if round_ is None:
                run_.observe(CommittedIds(self.context))
            full = i < len(self.stack) - 1 and len(self.context) >= (self.contexts[i] or math.inf)
            if full or i not in self.hierarchy.plan.levels or (round_ is not None and missed < JOINING_ROWS):
                continue
            while run_.cached < end:
                unless_stopped(self.stop)
                logits, _ = scorer(run_).score(self.context.cut(min(run_.cached + PREFILL_CHUNK, end)))
                self.hierarchy.check(i, logits)  # which also waits for the device, so that the time is the forward's
                with self.clock.stopped():
                    self.reading(i, run_.cached, end)
            now = self.clock.now()
            yield trace.Prefill(i, len(self.context) if round_ is None else missed, t0, now, round_)
            yield from self._chosen(i, run_)
        return now

    def _commit(self, committed: Tree) -> Generator[Event, None, None]:
        for i, run_ in enumerate(self.runs):
            t0 = self.clock.now()
            counts = run_.observe(CommittedIds(committed.ids))
            if counts is not None:
                yield self.writer.store(i, counts, t0)
            yield from self._chosen(i, run_)
        yield self.driver.at_rest(len(self.context))

    def _chosen(self, i: int, run_: LevelRun) -> Generator[Event, None, None]:
        """What a view has just chosen to hold."""
        if isinstance(run_, Shows) and (shown := run_.shown()):
            yield self.writer.view(i, shown)

    def _budget(self) -> int:
        return self.limit - (len(self.context) - self.prompt)


def _lanes(stack: Sequence[StackEntry]) -> int:
    return len({*lanes_of([entry.spec for entry in stack])})


def _bounded(stack: Sequence[StackEntry], sampling: Sampling) -> list[int]:
    """The verifiers that judge place by place, as the bound has it. A greedy one keeps what any exact rule keeps."""
    return [i for i in range(1, len(stack)) if not sampling.greedy and rule_of(stack[i].spec).by_place]


def _rows_hang_together(target: Level) -> bool:
    """Whether rows of a target that rounds its inputs were found to change with the rows beside them. In float32 their
    last bits alone can."""
    return target.dtype in QUANTISED and not getattr(getattr(target, "decoder", None), "independent", True)


def _launched(level: Level) -> dict[str, object]:
    """Why a level's passes are launched kernel by kernel on a GPU, where they should be replayed."""
    reason = getattr(getattr(level, "decoder", None), "eager", None)
    return {"eager": reason} if reason else {}


def _grown(stack: Sequence[StackEntry], index: int, sampling: Sampling) -> dict[str, object]:
    """The tree that a bottom level drafts, and whether siblings are drawn with replacement; or how many candidates it
    keeps ready for a place."""
    spec, target = stack[index].spec, stack[-1].spec
    if index == 0 and scheduler_of(target).nodes:
        return {"ready": target[WIDTH]}
    if index or not (spec.widths or spec.get(GROW)) or not fan_of(spec):
        return {}
    shape = {"grow": spec[GROW]} if spec.get(GROW) else {"tree": spec[TREE]}
    return {**shape, **({"replace": True} if spec[REPLACE] and not sampling.greedy else {})}


def _outgrown(stack: Sequence[StackEntry], index: int, length: int) -> dict[str, object]:
    """The context of a level below the target, where a text of this length outgrows it."""
    most = stack[index].level.max_positions
    return {"context": most} if most is not None and most < length and index < len(stack) - 1 else {}


def _planned(stack: Sequence[StackEntry], plan: RunPlan) -> list[LevelSpec]:
    """A plan in the stack's own words, every T written."""
    blocks = [*plan.blocks, None]
    return [replace(stack[i].spec, block=block) for i, block in zip(plan.levels, blocks, strict=True)]


def _check(stack: Sequence[StackEntry]) -> None:
    if not stack:
        raise StackError("the stack is empty; it needs at least a target")
    check_order([entry.spec for entry in stack])
    sizes = {entry.level.vocab_size for entry in stack if entry.level.has_cache}
    if len(sizes) > 1:
        raise StackError(f"levels disagree on the vocabulary ({sorted(sizes)} tokens); use levels of one family")
    for i, entry in enumerate(stack):
        if i > 0 and not entry.level.can_verify:
            raise StackError(f"level {i} ({entry.level.name}) cannot verify; it can only be the first level")
        if i < len(stack) - 1 and (entry.block is None or entry.block < 1):
            raise StackError(f"level {i} ({entry.level.name}) has no block length; write {entry.level.name}:T")
    check_apart(stack)


def _header(
    stack: Sequence[StackEntry],
    prompt_ids: Sequence[int],
    sampling: Sampling,
    seed: int,
    max_new: int,
    about: dict[str, Any],
) -> trace.Header:
    specs = [entry.spec for entry in stack]
    lossless, why = stack_lossless(specs, sampling)
    if lossless and len(stack) > 1 and _rows_hang_together(stack[-1].level):
        lossless, why = False, "on this processor the target's rows depend on how many of them are computed together"
    lanes = lanes_of(specs)
    trunks = shares([entry.level for entry in stack], lanes=lanes)
    levels = tuple(
        trace.LevelInfo(
            index=i,
            name=entry.spec.name,
            kind=entry.level.kind,
            label=entry.level.label,
            block=entry.block,
            policy=entry.spec.policy if i < len(stack) - 1 else None,
            theta=theta_of(entry.spec),
            rule=entry.spec.rule if i > 0 else None,
            bonus=entry.spec.bonus,
            device=entry.level.device,
            dtype=entry.level.dtype,
            layers=entry.level.layers,
            weights=entry.level.weights,
            params={
                **entry.level.params,
                **_launched(entry.level),
                **_grown(stack, i, sampling),
                **_outgrown(stack, i, len(prompt_ids) + max_new),
            },
            shares=trunks[i],
            reads=pass_bytes(entry.level),
            lane=lanes[i] if lanes[-2:-1] > (0,) else UNSET,
        )
        for i, entry in enumerate(stack)
    )
    if about.get("replan") is not None and lossless:
        why = f"{why}; plans change between rounds only, by what is past"
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    about = {**about, "versions": {**versions, **about.get("versions", {})}}
    return trace.Header(
        format=trace.FORMAT,
        schema=trace.SCHEMA,
        stack=format_stack(specs),
        levels=levels,
        sampling=sampling.as_dict(),
        seed=seed,
        prompt_ids=tuple(prompt_ids),
        max_new_tokens=max_new,
        lossless=lossless,
        lossless_reason=why,
        **about,
    )
