"""Costs in short runs of real stacks, and isolated costs scaled to them.

A pass that is timed alone is quicker than in a run, where its shape changes and the weights of other levels displace
its own in the processor's caches. So every level also runs in stacks of two and three levels, interleaved with plain
decoding of the target, on the engine's clock. Every turn has each stack once (plain decoding more often, as all
speed-ups depend on it), so a machine that slows down slows all alike. Total times of runs are predicted from these, so
means are used, not medians.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hsd_core.core.events import Draft, Event, Footer, Header, LevelInfo, Verify
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.measure.calibrate.isolated_costs import Timings
from hsd_core.measure.calibrate.reading import is_lookup
from hsd_core.measure.texts.written_texts import run_to_end
from hsd_core.measure.timed import NS_PER_MS, STEP, rotated
from hsd_core.measure.validate.counters import owes
from hsd_core.models.sampling import Sampling
from hsd_core.theory import Costs

if TYPE_CHECKING:
    from hsd_core.measure.calibrate.candidates import Candidates
    from hsd_core.measure.texts.written_texts import WrittenText
    from hsd_core.pipeline import Pipeline


TOKENS, WARM_UP_TOKENS = 20, 2
PLAIN_EVERY = 2  # stacks between two runs of plain decoding
TURNS, FEWEST = 12, 2
BOTTOM, MIDDLE = (2, 4, 3), (8, 4, 11)  # T of bottom drafters and of levels between, turn by turn
HEADS = 2  # likeliest tokens recorded of each row, as in a validation
Pair = tuple[int | None, int]  # the level whose tokens are verified (None: plain decoding), and the verifier


@dataclass(frozen=True, slots=True)
class Drafting:
    """A draft: ms, forwards, rows that the first of them caught up on, and whether it has any token."""

    ms: float
    forwards: int
    late: int
    hit: bool = True


@dataclass(slots=True)
class Observed:
    """Times of runs, by number of the calibrated levels.

    Attributes:
        verify: ms of each verification by (pair, rows without probes). drafts: of each level.
        stacks, plain: [ms outside drafts and verifications, rounds, verifications], summed over runs.
    """

    verify: dict[tuple[Pair, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    drafts: dict[int, list[Drafting]] = field(default_factory=lambda: defaultdict(list))
    stacks: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    plain: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    runs: int = 0

    def add(self, events: Sequence[Event], levels: Sequence[int]) -> None:
        """Count a finished run of a stack of these levels."""
        infos: tuple[LevelInfo, ...] = ()
        inside = calls = 0
        for event in events:
            if isinstance(event, Header):
                infos = event.levels
            elif isinstance(event, Draft):
                inside += event.t1 - event.t0
                late = event.work.catch_up if owes(infos[event.level]) else 0
                ms = (event.t1 - event.t0) / NS_PER_MS
                self.drafts[levels[event.level]].append(Drafting(ms, event.work.forwards, late, bool(event.tokens)))
            elif isinstance(event, Verify):
                inside, calls = inside + event.t1 - event.t0, calls + 1
                below = None if event.below is None else levels[event.below]
                rows = event.work.deciding + (event.work.catch_up if owes(infos[event.level]) else 0)
                self.verify[(below, levels[event.level]), rows].append((event.t1 - event.t0) / NS_PER_MS)
            elif isinstance(event, Footer):
                outside = self.plain if len(levels) == 1 else self.stacks
                outside[0] += max(0, event.decode_ns - inside) / NS_PER_MS
                outside[1] += event.rounds
        outside[2] += calls
        self.runs += 1


@dataclass(frozen=True, slots=True)
class EngineTime:
    """ms outside the levels: for each round, and in addition for each verification in it."""

    round_ms: float
    verify_ms: float


def observe(
    pipeline: Pipeline,
    found: Candidates,
    texts: Sequence[WrittenText],
    temperature: float,
    *,
    seconds: float,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> Observed:
    """Run stacks of the calibrated levels on prompts of all kinds, turn by turn; a first short turn is dropped.

    Args:
        seconds: after which no further turn begins.
    Raises:
        StackError: a stack cannot be built. Stopped: `stop` turned true.
    """
    which, observed = stacks_of([is_lookup(entry.level) for entry in found.entries]), Observed()
    which += [(number, found.target) for number in _run_only(found)]
    turns = _Turns(pipeline, found, Sampling(temperature), stop)
    turns.run(_with_plain(which), min(texts, key=lambda written: len(written.prompt)), 0, WARM_UP_TOKENS)
    began, turn, stride = time.monotonic(), 0, max(1, len(texts) // TURNS)
    progress(turn, TURNS)
    while turn < TURNS and (turn < FEWEST or time.monotonic() - began < seconds):
        text = texts[turn * stride % len(texts)]
        turns.run(_with_plain(rotated(which, turn * STEP)), text, turn, TOKENS, observed)
        turn += 1
        progress(turn, TURNS)
    return observed


def observe_drafts(
    pipeline: Pipeline,
    found: Candidates,
    texts: Sequence[WrittenText],
    temperature: float,
    *,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> Observed:
    """Measure what only runs show, in one run for every lookup and run-only level over the target, as each run reads a
    long text again.

    Raises:
        StackError: a stack cannot be built.
        Stopped: `stop` returned True.
    """
    lookups = [i for i, entry in enumerate(found.entries) if is_lookup(entry.level)]
    which, observed = [(i, found.target) for i in (*lookups, *_run_only(found))], Observed()
    turns = _Turns(pipeline, found, Sampling(temperature), stop)
    for done, levels in enumerate(which, start=1):
        turns.run([levels], texts[0], 0, TOKENS, observed)
        progress(done, len(which))
    return observed


def _run_only(found: Candidates) -> range:
    return range(len(found.entries), len(found.names))


@dataclass(frozen=True, slots=True)
class _Turns:
    pipeline: Pipeline
    found: Candidates
    sampling: Sampling
    stop: Callable[[], bool]

    def run(
        self,
        stacks: Iterable[tuple[int, ...]],
        text: WrittenText,
        turn: int,
        tokens: int,
        observed: Observed | None = None,
    ) -> None:
        """Run each of these stacks on one prompt, with the block lengths of a turn.

        Raises:
            Stopped: `stop` returned True.
        """
        for levels in stacks:
            entries, seed = self.pipeline.entries(_stack(self.found, levels, turn)), turn + 1
            settings = {"max_new_tokens": tokens, "ends": self.pipeline.ends, "heads": HEADS}
            events = run_to_end(entries, text.prompt, self.sampling, seed, stop=self.stop, **settings)
            if observed is not None:
                observed.add(events, levels)


def stacks_of(lookups: Sequence[bool]) -> list[tuple[int, ...]]:
    """Stacks of levels 0, 1, ..., the last one the target: every level below it, and every verifier over the first
    lookup and over the first drafter with a distribution. lookups: which levels are lookups."""
    target = len(lookups) - 1
    found: list[tuple[int, ...]] = [(j, target) for j in range(target)]
    for i in range(target):
        firsts = [next((j for j in range(i) if lookups[j] is kind), None) for kind in (True, False)]
        found += [(j, i, target) for j in firsts if j is not None and not lookups[i]]
    return found


def _with_plain(which: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    which = list(which)
    out: list[tuple[int, ...]] = []
    for number, levels in enumerate(which):
        out += [levels[-1:], levels] if number % PLAIN_EVERY == 0 else [levels]
    return out


def _stack(found: Candidates, levels: Sequence[int], turn: int) -> str:
    """A stack of some of the levels, with the block lengths of a turn."""
    top = parse(found.names[found.target])[0]
    below = [parse(f"{found.names[i]},{found.names[found.target]}")[0] for i in levels[:-1]]
    blocks = [BOTTOM[turn % len(BOTTOM)], *[MIDDLE[turn % len(MIDDLE)]] * len(below)]
    return format_stack([*(replace(spec, block=t) for spec, t in zip(below, blocks, strict=False)), top])


def engine_time(observed: Observed) -> EngineTime:
    """The engine's own time, which is a part per verification (gathering rows, cutting caches) and a part per round
    (the commit): plain decoding has one verification per round and a hierarchy several, which gives both."""
    stacks, plain = observed.stacks, observed.plain
    return split_engine_time(
        stacks[0] / max(1.0, stacks[1]), stacks[2] / max(1.0, stacks[1]), plain[0] / max(1.0, plain[1])
    )


def split_engine_time(round_of_stack: float, calls: float, round_of_plain: float) -> EngineTime:
    """ms of a round of a stack with `calls` verifications, and of one of plain decoding: neither part is negative."""
    if calls <= 1.0:
        return EngineTime(round_of_plain, 0.0)
    verify_ms = (round_of_stack - round_of_plain) / (calls - 1.0)
    if verify_ms <= 0.0:
        return EngineTime(round_of_plain, 0.0)
    if verify_ms >= round_of_plain:
        return EngineTime(0.0, round_of_stack / calls)
    return EngineTime(round_of_plain - verify_ms, verify_ms)


PRIOR, LEAST = 20.0, 8  # calls: the weight of the mean factor; the fewest for a row count to be a knot
NEAR = math.log(2.0)  # row counts as far apart as 1 and 2, or 4 and 8, do not influence each other
MOST = 4.0  # times the isolated cost: longer calls are stalls of the machine and are cut to this


def in_runs(timings: Timings, observed: Observed) -> Timings:
    """Isolated costs scaled to runs; costs that no run showed are unchanged."""
    verify = {}
    for i, alone in timings.verify.items():
        verify[i] = scaled(alone, _calls(observed, (pair for pair, _ in observed.verify if pair[1] == i), timings))
    edges = {(j, i): scaled(timings.verify[i], _calls(observed, [(j, i)], None)) for j, i in timings.lighter}
    for pair, alone in timings.edges.items():
        edges[pair] = scaled(alone, _calls(observed, [pair], None))
        if edges[pair] is alone and pair[0] not in timings.verify:  # a drafter that no run has below this verifier
            own, lone = verify[pair[1]], timings.verify[pair[1]]
            edges[pair] = alone.scaled(float(np.mean([own(n) / lone(n) for n in alone.rows])))
    draft = {
        i: round(per_token(observed.drafts[i], verify[i], ms), 5) if i in observed.drafts else ms
        for i, ms in timings.draft.items()
    }
    return Timings(verify, draft, edges, timings.lighter, timings.turns, timings.context)


def _calls(observed: Observed, pairs: Iterable[Pair], timings: Timings | None) -> dict[int, list[float]]:
    """Verifications of these pairs by rows, without pairs that have costs of their own in `timings`."""
    wanted = set(pairs) - (set() if timings is None else {*timings.edges, *timings.lighter})
    calls: dict[int, list[float]] = {}
    for (pair, rows), ms in observed.verify.items():
        if pair in wanted:
            calls.setdefault(rows, []).extend(ms)
    return calls


def scaled(alone: Costs, calls: Mapping[int, Sequence[float]]) -> Costs:
    """Costs at the row counts that were timed alone or occur in runs, each isolated cost times a factor.

    The factor of n rows is the weighted mean over calls of n rows, their neighbours with a weight that falls with the
    distance, and `PRIOR` calls at the level's mean factor. calls: ms of single calls, by rows.
    """
    met = [(n, len(ms), alone(n), sum(min(x, MOST * alone(n)) for x in ms)) for n, ms in calls.items()]
    expected = sum(k * ms for _, k, ms, _ in met)
    if not expected:
        return alone
    whole = sum(took for *_, took in met) / expected
    knots = sorted({*alone.rows, *(n for n, k, *_ in met if k >= PRIOR)})
    low, high = (np.interp(knots, alone.rows, ends) if ends else None for ends in (alone.low, alone.high))
    factors = []
    for n in knots:
        near = [(max(0.0, 1.0 - abs(math.log(n / m)) / NEAR), k, ms, took) for m, k, ms, took in met]
        took = sum(w * t for w, _, _, t in near) + PRIOR * whole * alone(n)
        factors.append(took / (sum(w * k * ms for w, k, ms, _ in near) + PRIOR * alone(n)))

    def times(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(round(float(x) * f, 5) for x, f in zip(values, factors, strict=True))

    ends = (None, None) if low is None or high is None else (times(low), times(high))
    return Costs(tuple(knots), times(alone(n) for n in knots), *ends)


def per_token(drafts: Sequence[Drafting], cost: Costs, alone: float) -> float:
    """Mean ms of a drafted token, without the cost of rows that the draft caught up on."""
    forwards = sum(draft.forwards for draft in drafts)
    took = sum(min(draft.ms, MOST * alone * (draft.forwards + draft.late)) for draft in drafts)
    late = sum(cost(1 + draft.late) - cost(1) for draft in drafts)
    return max(0.1 * alone, (took - late) / forwards)
