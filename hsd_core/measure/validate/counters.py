"""What a run's levels did and what it took, counted from its trace: the measured side of every term of the theory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hsd_core.core.events import Draft, Event, Footer, Header, LevelInfo, Verify
from hsd_core.measure.timed import NS_PER_MS

_SUMS = ("catch_up", "asked", "drafted", "judged", "accepted", "ms")


@dataclass(slots=True)
class LevelCounters:
    """A level's work.

    `rows[n]`: verifications of n rows, those included that only brought its cache up to date, and not the probes that
    rode beside them; of a drafter: forwards.
    `catch_up`: how many such rows there were. `asked`: drafts begun; `drafted`: tokens in them. `judged`, `accepted`:
    tokens of the level below.
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
    """Of one run, or of several runs of one stack added up. Times in ms on the engine's clock."""

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
        ValueError: the run has no end, so nobody knows what it took.
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
    """Whether rows that a level catches up on cost it a forward: others have run an exit's layers by then, and a fed
    drafter redoes some every time, which its cost includes."""
    return info.shares in (None, info.index) and not info.params.get("fed")


def _draft(counter: LevelCounters, event: Draft, owes: bool) -> None:
    counter.asked += 1
    counter.drafted += len(event.ids)
    counter.ms += (event.t1 - event.t0) / NS_PER_MS
    if event.work.forwards:
        late = event.work.catch_up if owes else 0  # all of it goes with the first token
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
