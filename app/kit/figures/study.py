"""What the figures show, computed from a trace: plain rows of figures, no plotting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from app.kit.figures.depth_map import Knowledge, known
from hsd_core.core.events import (
    Baseline,
    Commit,
    Event,
    Footer,
    Header,
    LevelInfo,
    Piece,
    Plan,
    Prefill,
    Report,
    Verify,
)
from hsd_core.theory.replan import origin_words
from hsd_core.trace.conventions import clock_of
from hsd_core.trace.metrics import measure

MS = 1e-6


@dataclass(slots=True)
class Position:
    """Acceptance of one verifier at one position of the blocks it judged (0 = the first token of a block)."""

    level: int
    position: int
    judged: int = 0
    accepted: int = 0


@dataclass(slots=True)
class Spent:
    """Milliseconds of one level; `lost` is its waste (see `hsd_core.trace.metrics`) times its busy time."""

    level: int
    prefill: float
    drafting: float
    verifying: float
    lost: float


@dataclass(slots=True)
class Study:
    """A trace's figures. Times in ms on the engine's clock; curves are (ms, tokens) after each commit.

    `plans`: of a run that chose its levels while it wrote, in order; `origin`: what it planned with.
    """

    levels: tuple[LevelInfo, ...] = ()
    positions: list[Position] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)
    elsewhere: float = 0.0
    curve: list[tuple[float, int]] = field(default_factory=list)
    prefill: float = 0.0
    plain: list[tuple[float, int]] = field(default_factory=list)
    plain_prefill: float = 0.0
    knowledge: Knowledge | None = None
    clock: str = ""
    plans: list[Plan] = field(default_factory=list)
    origin: str = ""


def study(events: Sequence[Event]) -> Study:
    """Read a trace once; an interrupted one gives what it has."""
    result = Study()
    cells: dict[tuple[int, int], Position] = {}
    prefill: Counter[int] = Counter()
    committed, decode, joined = 0, 0.0, 0
    ids: list[int] = []
    pieces: dict[int, Piece] = {}
    for event in events:
        if isinstance(event, Header):
            result.levels, result.clock = event.levels, clock_of(event)
            if event.replan is not None:
                result.origin = origin_words(event.profile, event.machine, event.preset)
        elif isinstance(event, Plan):
            result.plans.append(event)
        elif isinstance(event, Prefill):
            prefill[event.level] += event.t1 - event.t0
            joined += event.t1 - event.t0 if event.round is not None else 0
        elif isinstance(event, Verify):
            for position, check in enumerate(event.checks):
                if check.outcome != "unjudged":
                    cell = cells.setdefault((event.level, position), Position(event.level, position))
                    cell.judged += 1
                    cell.accepted += check.outcome == "accepted"
        elif isinstance(event, Piece):
            pieces[event.id] = event
        elif isinstance(event, Report):
            result.knowledge = known(event, ids, pieces) or result.knowledge
        elif isinstance(event, Commit):
            committed += len(event.tokens)
            ids += [token.id for token in event.tokens]
            result.curve.append((event.t * MS, committed))
        elif isinstance(event, Footer):
            result.prefill = event.prefill_ns * MS
            decode = event.decode_ns * MS
        elif isinstance(event, Baseline):
            result.plain_prefill = event.prefill_ns * MS
            result.plain = [((event.prefill_ns + t) * MS, n) for n, t in enumerate(event.token_ns, 1)]
    result.positions = [cells[key] for key in sorted(cells)]
    for index, level in enumerate(measure(events)["levels"]):
        lost = level["busy_ms"] * (level["waste"] or 0.0)
        kept = level["busy_ms"] - lost
        drafts = index == 0 and len(result.levels) > 1
        result.spent.append(Spent(index, prefill[index] * MS, kept if drafts else 0.0, 0.0 if drafts else kept, lost))
        decode -= level["busy_ms"]
    result.elsewhere = max(0.0, decode - joined * MS)
    return result


def rate(curve: Sequence[tuple[float, int]], prefill: float) -> float | None:
    """Tokens per second of a curve, prefill excluded; None when it is too short to say."""
    if not curve or curve[-1][0] <= prefill or not all(a[1] <= b[1] for a, b in pairwise(curve)):
        return None
    return curve[-1][1] / (curve[-1][0] - prefill) * 1000
