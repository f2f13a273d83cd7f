"""The figures of a run, each defined once and computed from events only.

| figure | definition |
|---|---|
| `committed` | tokens of the text |
| `tokens_per_s` | committed / decode time |
| `tokens_per_target_forward` | committed / forwards of the target after the prefill |
| `drafts_kept` | committed tokens that were drafted at the bottom / tokens drafted at the bottom |
| `layers_per_token` | layers read by the levels that share the target's weights / committed; plain decoding reads all |
| `mbsu` | weights that plain decoding reads for the committed tokens / what all passes read: memory-bound speed-up |
| `ttft_ms` | time to the first token: prefill and first round |
| `decode_ms` | from the end of the prefill to the last commit, on the engine's clock |
| `levels` | the figures of each level, below |
| `lanes` | with several lanes, below |

Of a level; systems add figures by their notes (`Note.figures`):

| figure | definition |
|---|---|
| `level` | its index, 0 for the cheapest |
| `judged` | positions where it judged a drafted token; none after a reject |
| `accepted` | those where it accepted one |
| `acceptance` | accepted / judged |
| `bound` | the most that any exact rule could accept with the same rows: the mean over those positions |
| `expected` | the acceptance probability of its own rule with them: the mean over those positions |
| `forwards` | its passes |
| `busy_ms`, `ms_per_call` | time in its passes, and of one |
| `rows` | positions that its passes computed |
| `waste` | rows that it computed for positions where its choice was not committed / all its rows |

With levels on several lanes (one for the target, one or more for the levels below):

| figure | definition |
|---|---|
| `clock` | where the times come from: "reckoned", "real" or "simulated" (`conventions.clock_of`) |
| `below`, `target`, `lanes` | use of a lane: its time in passes / decode time |
| `both` | time in which at least two lanes are in passes / decode time |
| `gain` | summed work of all lanes / decode time; at most their number |
| `dropped` | drafted tokens that were dropped with an earlier one before the target judged them |
| `waste` | rows for them and rows of stale passes / all rows of all lanes |

The memory-bound speed-up (MBSU: VocabTrim, arXiv 2506.22694) counts bytes: a pass reads the weights of its level once,
for however many rows. It is the speed-up where reading them is all that takes time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.core.notes import Dropped, Note, Noted, Stale
from hsd_core.models.sampling import is_greedy
from hsd_core.trace.conventions import clock_of, lanes_of
from hsd_core.trace.meters import LaneMeter, Lanes, LevelMeter, ratio

_NS_PER_S = 1e9
_NS_PER_MS = 1e6


class Meter:
    """Figures of a run so far: feed events in order, take a snapshot at any time."""

    def __init__(self) -> None:
        self._levels: list[LevelMeter] = []
        self._choosers: dict[int, list[int]] = {}  # serial -> levels with a row that chose this token
        self._forks: dict[int, tuple[int, int]] = {}  # serial of a tree's node -> its fork: (tree, -1) or (-1, parent)
        self._greedy = False
        self._committed = self._drafted = self._kept = self._layers_read = 0
        self._sharing: set[int] = set()  # the levels over the target's weights, if there are several
        self._reads: list[int | None] = []  # bytes of weights a pass, by level
        self._prefill_end = self._first_commit = self._last_commit = 0
        self._lanes: LaneMeter | None = None  # with several lanes
        self._fans: dict[int, list[int]] = {}  # serial -> how many tokens of its row are not dropped
        self._clock = ""  # the source of times
        self._noted: dict[str, float] = {}  # figures of notes, by name

    def feed(self, event: Event) -> None:
        if isinstance(event, trace.Header):
            self._levels = [LevelMeter() for _ in event.levels]
            self._reads = [level.reads for level in event.levels]
            over = {level.index for level in event.levels if level.shares == len(event.levels) - 1}
            self._sharing = over if len(over) > 1 else set()
            self._greedy = is_greedy(event.sampling)
            lanes = lanes_of(event)
            self._clock, self._lanes = clock_of(event), LaneMeter(lanes) if any(lanes) else None
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
        elif isinstance(event, trace.Report):
            self._note(event)

    def snapshot(self) -> dict[str, Any]:
        """The figures by name; None for a ratio to 0. Times in ms, rates in tokens/s."""
        target = self._levels[-1] if self._levels else LevelMeter()
        decode_s = (self._last_commit - self._prefill_end) / _NS_PER_S
        both = self.lanes()
        return {
            "committed": self._committed,
            "tokens_per_s": ratio(self._committed, decode_s),
            "tokens_per_target_forward": ratio(self._committed, target.forwards),
            "drafts_kept": ratio(self._kept, self._drafted),
            "layers_per_token": ratio(self._layers_read, self._committed) if self._sharing else None,
            "mbsu": self._memory_bound(),
            "ttft_ms": self._first_commit / _NS_PER_MS if self._committed else None,
            "decode_ms": decode_s * 1e3,
            "lanes": both and {"clock": self._clock, **both.figures()},
            **self._noted,
            "levels": [level.snapshot(i) for i, level in enumerate(self._levels)],
        }

    def level(self, index: int) -> dict[str, Any]:
        """The figures of one level, as in `snapshot`. Its waste counts positions that are not committed yet."""
        return self._levels[index].snapshot(index)

    def lanes(self) -> Lanes | None:
        """The figures of lanes so far; None with one lane."""
        if self._lanes is None:
            return None
        return self._lanes.found(self._prefill_end, self._last_commit, sum(level.rows for level in self._levels))

    def _memory_bound(self) -> float | None:
        known = [reads for reads in self._reads if reads is not None]
        if not known or len(known) < len(self._reads):
            return None
        read = sum(level.forwards * reads for level, reads in zip(self._levels, known, strict=True))
        return ratio(self._committed * known[-1], read) if known[-1] else None

    def _draft(self, event: trace.Draft) -> None:
        self._work(event)
        self._drafted += len(event.tokens)
        if Stale.of(event):
            self._drop(len(event.tokens), event.work.rows - event.work.catch_up)
        elif self._lanes and event.work.rows:
            fans = {
                parent: [event.parent_serials.count(parent)] for parent in event.parent_serials
            }  # what one row chose
            self._fans.update(zip(event.serials, (fans[parent] for parent in event.parent_serials), strict=True))
        for serial, parent in zip(event.serials, event.parent_serials, strict=True) if event.is_tree else ():
            self._forks[serial] = (event.serials[0] if parent < 0 else -1, parent)
        if event.work.rows:
            for serial in event.serials:
                self._choosers.setdefault(serial, []).append(event.level)

    def _verify(self, event: trace.Verify) -> None:
        level = self._work(event)
        if Stale.of(event):
            self._drop(0, event.work.rows - event.work.catch_up)
        if dropped := Dropped.of(event):
            self._drop(len(dropped.serials), sum(map(self._rows_of, dropped.serials)))
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
        for bound in event.bounds:
            level.bounded += 1
            level.best += bound.best
            level.reached += bound.rule is not None
            level.by_rule += bound.rule or 0.0

    def _work(self, event: trace.Draft | trace.Verify) -> LevelMeter:
        level = self._levels[event.level]
        level.forwards += event.work.forwards
        level.rows += event.work.rows
        level.catch_up += event.work.catch_up
        level.busy_ns += event.t1 - event.t0
        if self._lanes:
            self._lanes.worked(event.level, event.t0, event.t1)
        self._note(event)
        if event.level in self._sharing:
            self._layers_read += sum(span.hi - span.lo for span in event.work.ran)
        return level

    def _note(self, event: Noted) -> None:
        for note in event.notes.values():
            if isinstance(note, Note):
                for name, amount in note.figures().items():
                    self._noted[name] = self._noted.get(name, 0) + amount

    def _rows_of(self, serial: int) -> int:
        """Rows that chose a token that fell; one that chose several counts with the last of them."""
        rows = len(self._choosers.pop(serial, ()))
        if (fan := self._fans.pop(serial, None)) is None:
            return rows
        fan[0] -= 1
        return rows - (fan[0] > 0)

    def _drop(self, tokens: int, rows: int) -> None:
        if self._lanes:
            self._lanes.drop(tokens, rows)

    def _commit(self, event: trace.Commit) -> None:
        if not self._committed:
            self._first_commit = event.t
        self._last_commit = event.t
        self._committed += len(event.tokens)
        for token in event.tokens:
            self._kept += token.how == "draft"
            for chooser in self._choosers.pop(token.serial, ()):
                self._levels[chooser].useful += 1


def lanes(events: Iterable[Event]) -> Lanes | None:
    """The figures of a run's lanes; None with one lane."""
    meter = Meter()
    for event in events:
        meter.feed(event)
    return meter.lanes()


def header_of(events: Sequence[Event]) -> trace.Header:
    """The header of a run.

    Raises:
        ValueError: it has none.
    """
    if not events or not isinstance(events[0], trace.Header):
        raise ValueError("this is not a trace: its first event is not a header")
    return events[0]


def finished(events: Iterable[Event]) -> bool:
    """Whether a run ended by itself: not stopped, not interrupted."""
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
    """tokens/s of the run / tokens/s of its baseline; None without one."""
    events = list(events)
    plain, rate = plain_ms(events), measure(events)["tokens_per_s"]
    return rate * plain / 1000 if plain and rate else None


def plain_ms(events: Iterable[Event]) -> float | None:
    """Milliseconds per token of the run's baseline, prefill excluded; None without one."""
    baseline = next((e for e in events if isinstance(e, trace.Baseline)), None)
    if baseline is None or not baseline.token_ns:
        return None
    return baseline.token_ns[-1] / 1e6 / len(baseline.token_ns)
