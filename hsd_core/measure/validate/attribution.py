"""Where a prediction and a measurement part: what was predicted is replaced by what happened, one term at a time.

    predicted   = sum over levels of (calls of the theory) x (ms of the theory), and the engine's own ms
    acceptance  : calls and rounds as they were, each call and round as expensive as the theory says
    rows        : and each call with the rows that it had (blocks of other lengths, catching up)
    cost        : and each call with the ms that it took
    engine      : and the time between calls as it was = measured

The four differences add up to measured - predicted.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.measure.validate.counters import Counters, LevelCounters
from hsd_core.theory import ENGINE, Profile, StackPlan
from hsd_core.theory.latency.finite import OverTexts


@dataclass(frozen=True, slots=True)
class LevelBlame:
    """A level's calls (of a bottom drafter: tokens drafted; of a lookup: lookups) per committed token, ms per call.

    `priced_ms`: what the theory asks for calls of the rows that the measured ones had. `accepted`: share of the tokens
    of the level below that it accepted.
    """

    level: str
    calls_predicted: float
    calls: float
    ms_predicted: float
    priced_ms: float
    ms: float
    rows: float
    catch_up: float
    accepted: float | None


@dataclass(frozen=True, slots=True)
class Attribution:
    """ms per token. `levels`: cheapest first."""

    predicted: float
    acceptance: float
    rows: float
    cost: float
    engine: float
    measured: float
    levels: tuple[LevelBlame, ...]


def attribute(profile: Profile, plan: StackPlan, predicted: OverTexts, counters: Counters) -> Attribution:
    """Lay a prediction beside the counters of the same runs."""
    around = float(profile.about.get(ENGINE, 0.0))  # in the theory's costs, but not in the counters' ms
    n, total, stages = counters.tokens, predicted.ms_per_token, [0.0, 0.0, 0.0]
    levels, between = [], counters.rounds * profile.round_ms
    for at, (level, counter) in enumerate(zip(plan.levels, counters.levels, strict=True)):
        extra = around if at or len(plan.levels) == 1 else 0.0
        calls, ms = _calls(profile, at, level, counter), predicted.ms[at] / max(1e-12, predicted.calls[at]) - extra
        priced = _priced(profile, plan, at, counter) - calls * extra
        between += calls * extra
        for stage, value in enumerate((calls * ms, priced, counter.ms)):
            stages[stage] += value / n
        levels.append(
            LevelBlame(
                profile.names[level],
                predicted.calls[at] / predicted.tokens,
                calls / n,
                ms,
                _per(priced, calls),
                _per(counter.ms, calls),
                _per(sum(k * rows for rows, k in counter.rows.items()), counter.calls),
                _per(counter.catch_up, counter.calls),
                counter.accepted / counter.judged if counter.judged else None,
            )
        )
    engine = between / n
    after_calls, after_rows, after_cost = (stage + engine for stage in stages)
    measured = counters.decode_ms / n
    return Attribution(
        total,
        after_calls - total,
        after_rows - after_calls,
        after_cost - after_rows,
        measured - after_cost,
        measured,
        tuple(levels),
    )


def _calls(profile: Profile, at: int, level: int, counter: LevelCounters) -> float:
    if at == 0 and profile.levels[level].is_lookup:
        return float(counter.asked)
    return float(counter.calls)


def _priced(profile: Profile, plan: StackPlan, at: int, counter: LevelCounters) -> float:
    """What the theory asks for the calls of a counter, all runs together."""
    level = profile.levels[plan.levels[at]]
    if at == 0 and level.is_lookup:
        return counter.asked * level.block_ms(plan.blocks[0])
    if at == 0 and len(plan.levels) > 1:  # a drafter; what it catches up on comes on top of its first token
        one = level.block_ms(1)
        return sum(k * (one + level.cost(n) - level.cost(1)) for n, k in counter.rows.items())
    costs = profile.verify_cost(plan.levels[at - 1], plan.levels[at]) if at else level.cost
    return sum(k * costs(n) for n, k in counter.rows.items())


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
