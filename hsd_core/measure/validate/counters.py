"""Counts and times of a run's levels from its trace, and the difference of prediction and measurement by terms.

Predicted values are replaced by measured ones, one term at a time:

    predicted   = sum over levels of (predicted calls) x (predicted ms), and the engine's own ms
    acceptance  : measured calls and rounds, each at its predicted cost
    rows        : and each call with its measured rows (other block lengths, catching up)
    cost        : and each call with its measured ms
    engine      : and the measured time between calls = measured

The four differences add up to measured - predicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hsd_core.core.events import Draft, Event, Footer, Header, LevelInfo, Verify
from hsd_core.measure.timed import NS_PER_MS
from hsd_core.theory import ENGINE, Profile, StackPlan
from hsd_core.theory.latency.recursion import OverTexts

_SUMS = ("catch_up", "asked", "drafted", "judged", "accepted", "ms")


@dataclass(slots=True)
class LevelCounters:
    """A level's work.

    rows[n]: verifications of n rows, including rows that only bring its cache up to date, without probes; of a drafter:
    forwards. catch_up: the number of rows that only bring its cache up to date. asked: drafts begun; drafted: tokens in
    them. judged, accepted: tokens of the level below.
    """

    rows: Counter[int] = field(default_factory=Counter)
    catch_up: int = 0
    asked: int = 0
    drafted: int = 0
    judged: int = 0
    accepted: int = 0
    ms: float = 0.0

    @property
    def calls(self) -> int:
        """Verifications and drafts' forwards."""
        return sum(self.rows.values())

    def add(self, other: LevelCounters) -> None:
        self.rows.update(other.rows)
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Counters:
    """Of one run, or summed over runs of one stack. Times in ms on the engine's clock."""

    levels: list[LevelCounters]
    rounds: int = 0
    tokens: int = 0
    decode_ms: float = 0.0

    def add(self, other: Counters) -> None:
        for own, more in zip(self.levels, other.levels, strict=True):
            own.add(more)
        self.rounds, self.tokens = self.rounds + other.rounds, self.tokens + other.tokens
        self.decode_ms += other.decode_ms

    def as_dict(self) -> dict[str, Any]:
        levels = [
            {
                "rows": {str(n): k for n, k in sorted(level.rows.items())},
                **{name: round(getattr(level, name), 4) for name in _SUMS},
            }
            for level in self.levels
        ]
        return {"levels": levels, "rounds": self.rounds, "tokens": self.tokens, "decode_ms": round(self.decode_ms, 4)}


def counters_from(record: Mapping[str, Any]) -> Counters:
    """The inverse of `Counters.as_dict`."""
    levels = [
        LevelCounters(**{**level, "rows": Counter({int(n): k for n, k in level["rows"].items()})})
        for level in record["levels"]
    ]
    return Counters(levels, record["rounds"], record["tokens"], record["decode_ms"])


def count_run(events: Iterable[Event]) -> Counters:
    """Count a finished run.

    Raises:
        ValueError: the run has no end.
    """
    counters, infos = Counters([]), tuple[LevelInfo, ...]()
    for event in events:
        if isinstance(event, Header):
            infos = event.levels
            counters.levels = [LevelCounters() for _ in infos]
        elif isinstance(event, Draft):
            _draft(counters.levels[event.level], event, owes(infos[event.level]))
        elif isinstance(event, Verify):
            _verify(counters.levels[event.level], event, owes(infos[event.level]))
        elif isinstance(event, Footer) and event.reason != "stopped":
            counters.rounds, counters.tokens = event.rounds, event.committed
            counters.decode_ms = event.decode_ns / NS_PER_MS
    if not counters.tokens:
        raise ValueError("the run was stopped before its end; run it again")
    return counters


def owes(info: LevelInfo) -> bool:
    """Whether catching up costs a level time: an exit's layers have been run by other levels, and a fed drafter's cost
    includes recomputed rows."""
    return info.shares in (None, info.index) and not info.params.get("fed")


def _draft(counter: LevelCounters, event: Draft, owes: bool) -> None:
    counter.asked += 1
    counter.drafted += len(event.ids)
    counter.ms += (event.t1 - event.t0) / NS_PER_MS
    if event.work.forwards:
        late = event.work.catch_up if owes else 0  # all of it in the first token's forward
        counter.catch_up += late
        counter.rows[1] += event.work.forwards - 1
        counter.rows[1 + late] += 1


def _verify(counter: LevelCounters, event: Verify, owes: bool) -> None:
    late = event.work.catch_up if owes else 0
    counter.catch_up += late
    counter.rows[event.work.deciding + late] += 1
    counter.ms += (event.t1 - event.t0) / NS_PER_MS
    counter.accepted += sum(check.outcome == "accepted" for check in event.checks)
    counter.judged += sum(check.outcome != "unjudged" for check in event.checks)


@dataclass(frozen=True, slots=True)
class LevelBlame:
    """A level's calls (of a bottom drafter: tokens drafted; of a lookup: lookups) per committed token, ms per call.

    priced_ms: predicted ms for the measured rows. accepted: the share of tokens of the level below.
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
    """The difference of a prediction and the counters of the same runs, by terms."""
    around = float(profile.about.get(ENGINE, 0.0))  # included in the theory's costs, not in the counters' ms
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
    """The predicted ms of a counter's calls, summed."""
    level = profile.levels[plan.levels[at]]
    if at == 0 and level.is_lookup:
        return counter.asked * level.block_ms(plan.blocks[0])
    if at == 0 and len(plan.levels) > 1:  # a drafter; catching up adds to its first token
        one = level.block_ms(1)
        return sum(k * (one + level.cost(n) - level.cost(1)) for n, k in counter.rows.items())
    costs = profile.verify_cost(plan.levels[at - 1], plan.levels[at]) if at else level.cost
    return sum(k * costs(n) for n, k in counter.rows.items())


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
