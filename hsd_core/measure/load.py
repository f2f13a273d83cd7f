"""Stacks under load: how many tokens/s a batch of 1, 2, 4, ... requests gives in sum, and where a stack stops paying.

In every turn each stack, and plain decoding of its target, decodes the same requests at every load, in batches, in an
order that rotates. Decoding begins when every prompt has been read, and tokens in sum are counted until the first text
ends: all the while, so many requests are decoded. A stack's speed-up at a load is the ratio of sums to plain decoding's
at that load; the crossing point is the load at which it falls to 1, on a line between the measured loads (by log2).
Intervals resample the turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from hsd_core.batch.batch import Batch
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Commit, Draft, Event, Footer, Plan, Prefill, Verify
from hsd_core.levels.notes import Batch as JointPasses
from hsd_core.measure.bench.side_by_side import plain_of, with_plain
from hsd_core.measure.intervals import Tally, median_interval, middle
from hsd_core.measure.timed import rotated
from hsd_core.theory import Profile, ProfileError, expected, plan_of
from hsd_core.theory.latency.played_batch import play_batch
from hsd_core.theory.profiles.under_load import under_load
from hsd_core.theory.stack_table import StackTable
from hsd_core.trace.comparison import compare

PLAYED = 4  # times that a batch is played for a prediction


class LoadRunner(Protocol):
    """Makes the run of a stack after a prompt, with the clock and the stop of a batch."""

    def __call__(self, stack: str, prompt: str, *, clock: EngineClock, stop: Callable[[], bool]) -> Iterator[Event]: ...


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One batch. Entries of `tokens` and `decode_ns` are of its requests, from the end of the last prompt on.

    ns: from the end of the last prompt to the end of the first text, and of the rounds that end with the same pass.
    together: the tokens of all requests in that time.
    equal: texts that are plain decoding's. passes: of each level (joint passes, their ms, their rows and their
    requests, each summed over the passes).
    """

    load: int
    turn: int
    stack: str
    tokens: tuple[int, ...]
    decode_ns: tuple[int, ...]
    ns: int
    together: int
    equal: int
    passes: tuple[tuple[int, float, int, int], ...]

    @property
    def rate(self) -> float:
        """tokens/s in sum."""
        return self.together * 1e9 / self.ns


def measure(
    runner: LoadRunner,
    stacks: Sequence[str],
    prompts: Sequence[str],
    loads: Sequence[int],
    turns: int,
    done: Collection[tuple[int, int]] = (),
) -> Generator[list[LoadRun], None, None]:
    """Measure stacks and plain decoding: yields the batches of a load in a turn, after each. The prompts of a turn
    follow on those of the turn before. The first batch at each load is repeated, as a warm-up.

    Args:
        done: turns and loads that are left out.
    Raises:
        Exception: that of a request which could not be decoded.
    """
    everything = with_plain(stacks)
    for count, turn in enumerate([0, *range(turns)]):
        for load in rotated(list(loads), turn):
            if all((one, load) in done for one in ([turn] if count else range(turns))):
                continue
            measured = list[LoadRun]()
            for number in range(batches(loads, load, len(prompts)) if count else 1):
                first = (turn * batches(loads, load, len(prompts)) + number) * load
                asked = [prompts[i % len(prompts)] for i in range(first, first + load)]
                found = {stack: _decoded(runner, stack, asked) for stack in rotated(everything, turn + number)}
                measured += [load_run(load, turn, one, found[one], found[plain_of(one)]) for one in everything]
            if count:
                yield measured


def batches(loads: Sequence[int], load: int, prompts: int) -> int:
    """The batches of a stack at a load in a turn: as many as bring the prompts that the largest load has at once."""
    return math.ceil(min(max(loads), prompts) / load)


def decoding(runner: LoadRunner, stack: str, prompts: Sequence[str]) -> Generator[tuple[int, Event], None, None]:
    """Decode one batch. Yields each request's number with each of its events; all times are of the batch's clock.

    Raises:
        Exception: that of a request which could not be decoded.
    """
    batch = Batch(len(prompts))
    for prompt in prompts:
        batch.add(partial(_started, runner, stack, prompt, batch.clock), meets=_reads())
    with closing(batch.events()) as events:
        for number, event in events:
            if isinstance(event, Exception):
                raise event
            yield number, event


def _decoded(runner: LoadRunner, stack: str, prompts: Sequence[str]) -> list[list[Event]]:
    found = [list[Event]() for _ in prompts]
    for number, event in decoding(runner, stack, prompts):
        found[number].append(event)
    return found


def _reads() -> Callable[[Event], bool]:
    """Whether a run's prompt has been read with an event: by the lowest level of its first plan last."""
    lowest = 0

    def has_read(event: Event) -> bool:
        nonlocal lowest
        lowest = min(event.levels) if isinstance(event, Plan) else lowest
        return isinstance(event, Prefill) and event.level == lowest

    return has_read


def _started(
    runner: LoadRunner, stack: str, prompt: str, clock: EngineClock, _: EngineClock, stop: Callable[[], bool]
) -> Iterator[Event]:
    return runner(stack, prompt, clock=clock, stop=stop)


def load_run(load: int, turn: int, stack: str, runs: Sequence[list[Event]], plain: Sequence[list[Event]]) -> LoadRun:
    """One batch, from the events of its requests and of those that plain decoding answers."""
    footers = [next(event for event in run if isinstance(event, Footer)) for run in runs]
    began = max(event.t1 for run in runs for event in run if isinstance(event, Prefill) and event.round is None)
    ends = [max(event.t for event in run if isinstance(event, Commit)) for run in runs]
    until = _until_first_end(runs, ends)
    commits = [event for run in runs for event in run if isinstance(event, Commit)]
    totals: dict[int, list[float]] = {i: [0, 0.0, 0, 0] for i in range(len(footers[0].totals))}
    for event in (event for run in runs for event in run if isinstance(event, (Draft, Verify))):
        note = JointPasses.of(event)
        if note is not None:  # a pass of k requests is in the notes of all of them
            share = 1 / len(note.runs)
            for at, more in enumerate((note.passes, note.ns / 1e6, sum(note.rows), note.passes * len(note.runs))):
                totals[event.level][at] += share * more
    return LoadRun(
        load,
        turn,
        stack,
        tuple(footer.committed for footer in footers),
        tuple(end - began for end in ends),
        until - began,
        sum(len(commit.tokens) for commit in commits if began < commit.t <= until),
        sum(compare(run, other).holds for run, other in zip(runs, plain, strict=True)),
        tuple((round(passes), round(ms, 3), round(rows), round(of)) for passes, ms, rows, of in totals.values()),
    )


def _until_first_end(runs: Sequence[list[Event]], ends: Sequence[int]) -> int:
    """When the first text was over, and all had committed what the same pass of the target verified."""
    first = ends.index(min(ends))
    last = next(event for event in reversed(runs[first]) if isinstance(event, Verify) and event.t1 <= ends[first])
    note = JointPasses.of(last)
    beside = (runs[i] for i in (note.runs if note else (first,)))
    return max(next(event.t for event in own if isinstance(event, Commit) and event.t > last.t0) for own in beside)


def summary(runs: Sequence[LoadRun], profile: Profile | None = None) -> dict[str, Any]:
    """`rows`: of each stack and load, tokens/s in sum (`sum`), the median of a request with its interval (`each`,
    `each_interval`), the speed-up over plain decoding at that load with its interval, what is predicted of sum and
    speed-up from a profile, and by the theory alone (`theory_sum`), or None, `equal`, and the mean ms, rows and
    requests of a pass of each level. `errors`: see there. `crossings`: of each stack, see `crossing`."""
    turns, loads = 1 + max(run.turn for run in runs), sorted({run.load for run in runs})
    stacks, tally, rows = list(dict.fromkeys(run.stack for run in runs)), Tally(turns), list[dict[str, Any]]()
    for run in runs:
        tally.add((run.stack, run.load), run.turn, run.together * 1e9, run.ns)
    for stack in stacks:
        for load in loads:
            own = [run for run in runs if (run.stack, run.load) == (stack, load)]
            each = [1e9 * n / ns for run in own for n, ns in zip(run.tokens, run.decode_ns, strict=True) if ns]
            ratio = tally.resampled((stack, load)) / tally.resampled((plain_of(stack), load))
            total, plain = tally.ratio((stack, load)), tally.ratio((plain_of(stack), load))
            assert total is not None and plain is not None
            predicted, base = (
                predicted_rate(profile, [run for run in runs if (run.stack, run.load) == (one, load)])
                for one in (stack, plain_of(stack))
            )
            rows.append(
                {
                    "stack": stack,
                    "load": load,
                    "sum": total,
                    "each": float(np.median(each)) if each else None,
                    "each_interval": median_interval(each)[1:] if each else None,
                    "speed_up": total / plain,
                    "interval": middle(ratio),
                    "predicted_sum": predicted,
                    "predicted_speed_up": predicted and base and predicted / base,
                    "theory_sum": theory_rate(profile, stack, load),
                    "equal": sum(run.equal for run in own) / sum(len(run.tokens) for run in own),
                    "passes": [_mean(level) for level in zip(*(run.passes for run in own), strict=True)],
                }
            )
    crossings = {stack: crossing(tally, stack, loads) for stack in stacks if stack != plain_of(stack)}
    return {"loads": loads, "turns": turns, "rows": rows, "errors": errors(rows), "crossings": crossings}


def _mean(of: Sequence[tuple[int, float, int, int]]) -> dict[str, float] | None:
    """The mean ms, rows and requests of a level's passes; None where it has none."""
    passes, ms, rows, requests = (sum(part) for part in zip(*of, strict=True))
    return {"ms": ms / passes, "rows": rows / passes, "requests": requests / passes} if passes else None


def predicted_rate(profile: Profile | None, batches: Sequence[LoadRun]) -> float | None:
    """tokens/s in sum of batches of one stack at one load, played with texts as long as theirs (`play_batch`); None
    without a profile, or where the theory has no formula for the stack."""
    if profile is None:
        return None
    try:
        plan = plan_of(profile, at_load(batches[0].stack, batches[0].load))
        played = [play_batch(profile, plan, run.tokens, seed) for run in batches for seed in range(PLAYED)]
    except ProfileError:
        return None
    return 1000.0 * sum(one.tokens for one in played) / sum(one.ms for one in played)


def theory_rate(profile: Profile | None, stack: str, load: int) -> float | None:
    """tokens/s in sum by the theory, as if all requests met in every pass; None as for `predicted_rate`."""
    if profile is None:
        return None
    try:
        return 1000.0 / expected(under_load(profile, load), plan_of(profile, at_load(stack, load))).ms_per_token
    except ProfileError:
        return None


def at_load(stack: str, load: int) -> str:
    """A stack, or a table's at this load."""
    table = StackTable.read(stack)
    return stack if table is None else table.rows[table.row(load)]


def errors(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each stack and load: by which part the prediction is above what was measured, of tokens/s in sum (`sum`), and
    of its two factors: plain decoding at that load (`costs`: it is nothing but passes, so they took another time that
    day), and the speed-up (`model`: these texts are accepted otherwise, or the model lacks something)."""
    known = {(row["stack"], row["load"]): row for row in rows if row["predicted_sum"]}
    return [
        {
            "stack": stack,
            "load": load,
            "sum": row["predicted_sum"] / row["sum"] - 1,
            "costs": plain["predicted_sum"] / plain["sum"] - 1,
            "model": row["predicted_speed_up"] / row["speed_up"] - 1,
        }
        for (stack, load), row in known.items()
        if (plain := known.get((plain_of(stack), load)))
    ]


def crossing(tally: Tally, stack: str, loads: Sequence[int]) -> dict[str, float | None]:
    """The load from which on a stack does not pay: `at`, and the ends of its interval, `low` and `high`; 0: it pays at
    none of the measured loads, None: at all of them."""
    curves = np.stack(
        [tally.resampled((stack, load)) / tally.resampled((plain_of(stack), load)) for load in loads], axis=1
    )
    whole = [(tally.ratio((stack, load)) or 0.0) / (tally.ratio((plain_of(stack), load)) or 1.0) for load in loads]
    low, high = np.quantile([_crosses(curve, loads) for curve in curves], (0.025, 0.975), method="nearest")
    return {
        name: float(at) if math.isfinite(at) else None
        for name, at in (("at", _crosses(whole, loads)), ("low", low), ("high", high))
    }


def _crosses(speed_ups: Sequence[float], loads: Sequence[int]) -> float:
    """The last load at which a falling curve is at 1; 0 where it is always below, infinite where it ends above."""
    if speed_ups[-1] > 1.0:
        return math.inf
    for i in range(len(loads) - 1, 0, -1):
        before, after = speed_ups[i - 1], speed_ups[i]
        if before > 1.0 >= after:
            part = (before - 1.0) / (before - after)
            return float(2 ** (math.log2(loads[i - 1]) * (1 - part) + math.log2(loads[i]) * part))
    return 0.0
