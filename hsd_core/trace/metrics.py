"""What a trace says about a run: one definition for each figure, computed from events only.

| figure | definition |
|---|---|
| acceptance of level i | places where i accepted a drafted token / where it judged any (none behind a reject) |
| its bound | the most that any exact rule could accept with the same rows: the mean over those places |
| drafts kept | committed tokens that were drafted at the bottom / tokens drafted at the bottom |
| tokens per target forward | committed / forwards of the target after the prefill |
| tokens/s | committed / decode time on the engine's clock, prefill excluded |
| time to first token | prefill and first round |
| layers per token | layers read by the levels that share the target's weights / committed; plain decoding reads all |
| memory-bound speed-up | weights that plain decoding reads for the committed tokens / what all passes read (below) |
| moved | bytes that crossed between devices in drafts and verifications, and the ms of the copies; None on one |
| waste of level i | rows that i computed for positions where its choice was not committed / all its rows |

The memory-bound speed-up (MBSU: VocabTrim, arXiv 2506.22694) counts bytes: a pass reads the weights of its level once,
for however many rows. It is the speed-up where reading them is all that takes time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hsd_core import trace
from hsd_core.models.sampling import is_greedy
from hsd_core.trace import Event

_NS_PER_S = 1e9
_NS_PER_MS = 1e6


class _LevelMeter:
    def __init__(self) -> None:
        self.judged = self.accepted = self.forwards = self.rows = self.catch_up = self.useful = self.busy_ns = 0
        self.bounded = self.reached = 0  # places with a bound, and of them those where the rule's own chance is known
        self.best = self.by_rule = 0.0  # sums over them

    def snapshot(self, level: int) -> dict[str, Any]:
        return {
            "level": level,
            "acceptance": _ratio(self.accepted, self.judged),
            "judged": self.judged,
            "accepted": self.accepted,
            "bound": _ratio(self.best, self.bounded),
            "expected": _ratio(self.by_rule, self.reached) if self.reached == self.bounded else None,
            "forwards": self.forwards,
            "ms_per_call": _ratio(self.busy_ns / _NS_PER_MS, self.forwards),
            "busy_ms": self.busy_ns / _NS_PER_MS,
            "rows": self.rows,
            "waste": _ratio(self.rows - self.catch_up - self.useful, self.rows),
        }


class Meter:
    """Figures of a run so far: feed events in order, ask for a snapshot at any time."""

    def __init__(self) -> None:
        self._levels: list[_LevelMeter] = []
        self._choosers: dict[int, list[int]] = {}  # serial -> levels with a row that chose this token
        self._forks: dict[int, tuple[int, int]] = {}  # serial of a tree's node -> its place: (tree, -1) or (-1, parent)
        self._greedy = False
        self._committed = self._drafted = self._kept = self._layers_read = 0
        self._sharing: set[int] = set()  # the levels over the target's weights, if it is not alone there
        self._reads: list[int | None] = []  # bytes of weights a pass, by level
        self._prefill_end = self._first_commit = self._last_commit = 0
        self._moved_bytes = self._moved_ns = 0

    def feed(self, event: Event) -> None:
        if isinstance(event, trace.Header):
            self._levels = [_LevelMeter() for _ in event.levels]
            self._reads = [level.reads for level in event.levels]
            over = {level.index for level in event.levels if level.shares == len(event.levels) - 1}
            self._sharing = over if len(over) > 1 else set()
            self._greedy = is_greedy(event.sampling)
        elif isinstance(event, trace.Prefill):
            if event.round is None:  # later ones are part of decoding
                self._prefill_end = event.t1
        elif isinstance(event, trace.Draft):
            self._draft(event)
        elif isinstance(event, trace.Verify):
            self._verify(event)
        elif isinstance(event, (trace.Correct, trace.Bonus)):
            self._choosers.setdefault(event.serial, []).append(event.level)
        elif isinstance(event, trace.Commit):
            self._commit(event)

    def snapshot(self) -> dict[str, Any]:
        """The figures by name; None where there is nothing to divide by. Times in ms, rates in tokens/s."""
        target = self._levels[-1] if self._levels else _LevelMeter()
        decode_s = (self._last_commit - self._prefill_end) / _NS_PER_S
        return {
            "committed": self._committed,
            "tokens_per_s": _ratio(self._committed, decode_s),
            "tokens_per_target_forward": _ratio(self._committed, target.forwards),
            "drafts_kept": _ratio(self._kept, self._drafted),
            "layers_per_token": _ratio(self._layers_read, self._committed) if self._sharing else None,
            "mbsu": self._memory_bound(),
            "ttft_ms": self._first_commit / _NS_PER_MS if self._committed else None,
            "decode_ms": decode_s * 1e3,
            "moved_bytes": self._moved_bytes or None,
            "moved_ms": self._moved_ns / _NS_PER_MS if self._moved_bytes else None,
            "levels": [level.snapshot(i) for i, level in enumerate(self._levels)],
        }

    def level(self, index: int) -> dict[str, Any]:
        """The figures of one level, as in `snapshot`. Its waste counts positions that are not committed yet."""
        return self._levels[index].snapshot(index)

    def _memory_bound(self) -> float | None:
        known = [reads for reads in self._reads if reads is not None]
        if not known or len(known) < len(self._reads):
            return None
        read = sum(level.forwards * reads for level, reads in zip(self._levels, known, strict=True))
        return _ratio(self._committed * known[-1], read) if known[-1] else None

    def _draft(self, event: trace.Draft) -> None:
        self._work(event)
        self._drafted += len(event.serials)
        for serial, parent in zip(event.serials, event.behind, strict=True) if event.parents else ():
            self._forks[serial] = (event.serials[0] if parent < 0 else -1, parent)
        if event.rows:
            for serial in event.serials:
                self._choosers.setdefault(serial, []).append(event.level)

    def _verify(self, event: trace.Verify) -> None:
        level = self._work(event)
        judged = [check for check in event.checks if check.outcome != "unjudged"]
        place = {check.serial: self._forks.get(check.serial, check.serial) for check in event.checks}
        places = {place[check.serial] for check in judged}
        for check in judged:
            if check.outcome == "accepted":
                self._choosers.setdefault(check.serial, []).append(event.level)
                level.accepted += 1
        # Several tokens offered for one place are one question; on a chain every token has a place of its own.
        level.judged += len(places)
        if self._greedy:  # an exact rule keeps a candidate where one of them is the verifier's choice, and only there
            chosen = {place[check.serial] for check in event.checks if check.p == 1.0}
            level.bounded += len(places)
            level.best += len(places & chosen)
        for bound in event.bounds or ():
            level.bounded += 1
            level.best += bound.best
            level.reached += bound.rule is not None
            level.by_rule += bound.rule or 0.0

    def _work(self, event: trace.Draft | trace.Verify) -> _LevelMeter:
        level = self._levels[event.level]
        level.forwards += event.forwards if isinstance(event, trace.Draft) else 1
        level.rows += event.rows
        level.catch_up += event.catch_up
        level.busy_ns += event.t1 - event.t0
        if event.moved:
            self._moved_bytes, self._moved_ns = self._moved_bytes + event.moved.bytes, self._moved_ns + event.moved.ns
        if event.level in self._sharing:
            self._layers_read += sum(span.hi - span.lo for span in event.ran)
        return level

    def _commit(self, event: trace.Commit) -> None:
        if not self._committed:
            self._first_commit = event.t
        self._last_commit = event.t
        self._committed += len(event.tokens)
        for token in event.tokens:
            self._kept += token.how == "draft"
            for chooser in self._choosers.pop(token.serial, ()):
                self._levels[chooser].useful += 1


class Lanes(NamedTuple):
    """Of a run whose levels work at the same time: how long each lane was at work, of how long the decoding took (ns),
    and how many drafted tokens were dropped before anybody judged them. handed, handed_ns: where lanes are processes,
    how often they were given work, and what it took to hand it over and back."""

    below: int
    target: int
    span: int
    dropped: int
    handed: int = 0
    handed_ns: int = 0


def lanes(events: Sequence[Event]) -> Lanes | None:
    """None where one level works after another."""
    header = header_of(events)
    if header.overlap == "none":
        return None
    top, busy, dropped = len(header.levels) - 1, [0, 0], 0
    for event in events:
        if isinstance(event, (trace.Draft, trace.Verify)):
            busy[event.level == top] += event.t1 - event.t0
            if isinstance(event, trace.Draft):
                dropped += len(event.ids) if event.stale else 0
            else:
                dropped += len(event.dropped or ())
    ends = [event.t1 for event in events if isinstance(event, trace.Prefill) and event.round is None]
    last = max((event.t for event in events if isinstance(event, trace.Commit)), default=0)
    footer = next((event for event in events if isinstance(event, trace.Footer)), None)
    told = (footer.handed.times, footer.handed.ns) if footer and footer.handed else (0, 0)
    return Lanes(busy[0], busy[1], max(0, last - max(ends, default=0)), dropped, *told)


def header_of(events: Sequence[Event]) -> trace.Header:
    """What a run was asked for.

    Raises:
        ValueError: it is not a run.
    """
    if not events or not isinstance(events[0], trace.Header):
        raise ValueError("this is not a trace: its first event is not a header")
    return events[0]


def finished(events: Iterable[Event]) -> bool:
    """Whether a run came to its end, and was not stopped or broken off."""
    return any(isinstance(e, trace.Footer) and e.reason != "stopped" for e in events)


def measure(events: Iterable[Event]) -> dict[str, Any]:
    """The snapshot at the end of a trace."""
    meter = Meter()
    for event in events:
        meter.feed(event)
    return meter.snapshot()


def token_times(events: Iterable[Event]) -> list[int]:
    """Engine time in ns of each committed token, counted from the end of the prefill."""
    start, times = 0, []
    for event in events:
        if isinstance(event, trace.Prefill) and event.round is None:
            start = event.t1
        elif isinstance(event, trace.Commit):
            times += [event.t - start] * len(event.tokens)
    return times


def committed_ids(events: Iterable[Event]) -> list[int]:
    """The output of a run."""
    return [token.id for event in events if isinstance(event, trace.Commit) for token in event.tokens]


def speed_up(events: Iterable[Event]) -> float | None:
    """tokens/s of the run / tokens/s of plain decoding beside it; None without a measured baseline."""
    events = list(events)
    plain, rate = plain_ms(events), measure(events)["tokens_per_s"]
    return rate * plain / 1000 if plain and rate else None


def plain_ms(events: Iterable[Event]) -> float | None:
    """Milliseconds a token of plain decoding beside the run, prefill excluded; None where it was not measured."""
    baseline = next((e for e in events if isinstance(e, trace.Baseline)), None)
    if baseline is None or not baseline.token_ns:
        return None
    return baseline.token_ns[-1] / 1e6 / len(baseline.token_ns)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
