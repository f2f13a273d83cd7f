"""A lane's process: it builds the levels of its lane and runs one request at a time, with one thread on one core."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from io import FileIO
from time import perf_counter_ns
from typing import NamedTuple

from torch import Tensor

from hsd_core.engine.choices import SeededChoices
from hsd_core.engine.hierarchy import Hierarchy
from hsd_core.engine.lanes.real.lane_messages import (
    Answer,
    Begin,
    Counted,
    Done,
    Draft,
    Drafted,
    Failed,
    Heed,
    Hello,
    Keep,
    Loop,
    Looped,
    Observe,
    Question,
    Ready,
    Score,
    Scored,
    pack,
    question,
)
from hsd_core.engine.lanes.real.looped import looped
from hsd_core.levels.declared.keys import THETA
from hsd_core.levels.kinds import LevelSpec, policy_of
from hsd_core.levels.protocol import CommittedIds, LevelRun, Proposal, Verified, Work, drafter, scorer
from hsd_core.levels.shared import SharedState, open_place
from hsd_core.levels.tree import named
from hsd_core.models.context import Context
from hsd_core.models.gpu.read_there import SHORTLIST
from hsd_core.models.sampling import OneHot, finite, shortlists, softmax
from hsd_core.models.threads import torch_with
from hsd_core.stacks.builder import Builder, blocks_of
from hsd_core.stacks.grammar import parse
from hsd_core.trace import Span
from hsd_core.trace.typed.frames import Frames, send

Reply = tuple[Answer, Sequence[Tensor]]


class Place(NamedTuple):
    """A level's place in the stack, whether it is kept here or not."""

    name: str
    spec: LevelSpec
    block: int | None


class LaneServer:
    """Answers questions about the levels of one lane."""

    def __init__(self, hello: Hello) -> None:
        torch_with(1)
        self._builder = Builder(hello.preset, hello.device, hello.dtype, lambda *_: None, hello.models, kind=hello.kind)
        self._runs: dict[int, LevelRun] = {}
        self._hierarchy: Hierarchy
        self._begun: Begin

    def answer(self, asked: Question, tensors: Sequence[Tensor]) -> Reply:
        """What a question comes to."""
        if isinstance(asked, Draft):
            return self._draft(asked)
        if isinstance(asked, Score):
            return self._score(asked)
        if isinstance(asked, Observe):
            counts = self._runs[asked.level].observe(CommittedIds(asked.ids))
            return Counted(asked.number, self._cached, None if counts is None else dict(counts)), ()
        if isinstance(asked, Loop):
            ms = looped(self._runs[asked.level], asked.ids, asked.rows, asked.seconds)
            return Looped(asked.number, self._cached, ms), ()
        if isinstance(asked, Keep):
            self._runs[asked.level].keep(asked.start, asked.path)
        elif isinstance(asked, Heed):
            self._heed(asked, tensors)
        elif isinstance(asked, Begin):
            self._begin(asked)
        return Done(asked.number, self._cached), ()

    def close(self) -> None:
        """Let go of the present run's states."""
        for run in self._runs.values():
            run.close()
        self._runs = {}

    @property
    def _cached(self) -> list[int]:
        return [run.cached for run in self._runs.values()]

    def _begin(self, asked: Begin) -> None:
        self.close()
        specs = parse(asked.stack)
        here = self._builder.entries(specs, slice(asked.first, asked.end))
        opened = open_place([entry.level for entry in here], SharedState(asked.capacity, asked.nodes, asked.positions))
        runs = list(opened)[::-1]
        self._runs = dict(zip(range(asked.first, asked.end), runs, strict=True))
        places = [Place(spec.name, spec, block) for spec, block in zip(specs, blocks_of(specs), strict=True)]
        choices = SeededChoices(asked.seed)
        self._hierarchy = Hierarchy(places, sampling=asked.sampling, choices=choices, ends=asked.ends)
        self._begun = asked

    def _draft(self, asked: Draft) -> Reply:
        hierarchy, level = self._hierarchy, asked.level
        if asked.theta is not None:  # it moves with what is judged, which the driver sees
            spec = hierarchy.stack[level].spec
            hierarchy.policies[level] = policy_of(spec).bind({**spec.values, THETA.name: asked.theta})
        order = hierarchy.order(level, len(asked.ids), asked.limit, asked.epoch)
        t0 = perf_counter_ns()
        found = drafter(self._runs[level]).propose(Context(asked.ids), order)
        t1 = perf_counter_ns()
        return self._drafted(asked.number, found, t0, t1)

    def _drafted(self, number: int, found: Proposal, t0: int, t1: int) -> Reply:
        ranked, sound, tensors = None, True, [] if found.rows is None else [found.rows]
        if found.logits is not None:
            if self._begun.heads <= SHORTLIST:  # all that is read of them
                ranked = shortlists(softmax(found.logits), max(1, self._begun.heads)) if len(found.logits) else []
                sound = finite(found.logits) if len(found.logits) else True
            else:
                tensors.append(found.logits)
        told = Drafted(
            number,
            self._cached,
            *_work(found.work),
            t0,
            t1,
            ids=found.ids,
            sources=found.sources,
            parents=found.parents,
            offered=None if found.offered is None else tuple((one.node, one.row) for one in found.offered),
            repeats=found.repeats,
            copied=found.copied,
            theta=found.theta,
            keys=found.keys,
            silent=found.silent,
            drawn=found.rows is not None,
            logits=None if found.logits is None else (found.logits.shape[0], found.logits.shape[1]),
            ranked=ranked,
            sound=sound,
        )
        return told, tensors

    def _score(self, asked: Score) -> Reply:
        tree = replace(named(asked.tree), parents=asked.parents, unread=asked.unread)
        t0 = perf_counter_ns()
        logits, work = scorer(self._runs[asked.level]).score(Context(asked.ids), tree)
        t1 = perf_counter_ns()
        return Scored(asked.number, self._cached, *_work(work), t0, t1), [logits]

    def _heed(self, asked: Heed, tensors: Sequence[Tensor]) -> None:
        rows = tensors[0] if asked.tokens is None else OneHot(asked.tokens, tensors[0])
        to_probs = self._hierarchy.to_probs
        self._runs[asked.level].observe(Verified(asked.start, rows, to_probs))


def _work(work: Work) -> tuple[tuple[int, int, int], tuple[Span, ...]]:
    return (work.forwards, work.rows, work.catch_up), work.ran


def serve(source: FileIO, sink: FileIO) -> None:
    """Answer questions until they end."""
    frames, server = Frames(source), None
    while (body := frames.next()) is not None:
        asked, tensors = question(body)
        try:
            if isinstance(asked, Hello):
                _stay_on(asked.core)
                server = LaneServer(asked)
                told: Reply = Ready(asked.number, [], os.getpid(), perf_counter_ns()), ()
            else:
                assert server is not None, "the first question says what the levels are made of"
                told = server.answer(asked, tensors)
        except Exception as error:
            told = Failed(asked.number, f"{type(error).__name__}: {error}"), ()
        send(sink, pack(*told))
    if server is not None:
        server.close()


def _stay_on(core: int | None) -> None:
    """Work on one core alone, where the platform can say so."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):  # it was taken away since
            os.sched_setaffinity(0, {core})


if __name__ == "__main__":
    answers = FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    sys.stdout = sys.stderr
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve(FileIO(0, closefd=False), answers)
