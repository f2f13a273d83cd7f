"""Logs of two engines whose lines belong together.

llama.cpp's server prints its requests and totals of its drafters since it started. SGLang's lines `Decode batch` are
compared with each other, to find what their rate divides by and which of them count a pause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from hsd_core.doctor.reading.counts import Counts, DoctorError, length_of, timed_tokens
from hsd_core.doctor.reading.figures import Figure
from hsd_core.doctor.reading.forms import called, known
from hsd_core.doctor.reading.headings import is_drafted
from hsd_core.doctor.reading.printed import Printed, counts_of

_NAMES = called(
    skipped="prompt eval time|total time|load time|sample time|sampling time",
    ms="eval time",
    rate="draft acceptance|draft acceptance rate",
    length="mean acceptance length|mean acceptance len|mean len",
    positions="acceptance rate per position|acc per pos",
    drafts="#gen drafts",
    kept="#acc drafts",
    tokens="#gen tokens",
    accepted="#acc tokens",
    dur="dur",
)
ENDS = frozenset(name.rsplit(" ", 1)[-1] for name in _NAMES)
_STATISTICS = re.compile(r"statistics\s+([\w-]{1,60})\s*:")
_TASK = re.compile(r"\btask (\d{1,9})\b")
_BLOCKS = ("dflash", "dspark", "medusa", "block")  # drafters that give all tokens of a draft in one pass
MOST = 50_000  # requests


@dataclass(slots=True)
class _Request:
    """A request: its lines follow one another, then those of its drafters."""

    label: str
    line: int
    task: str = ""
    printed: Printed = field(default_factory=Printed)
    drafters: dict[str, list[float]] = field(default_factory=dict)  # drafts, kept, tokens, accepted


class LlamaLog:
    """Collects the figures of lines; `seen` returns the requests."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._requests: list[_Request] = []
        self._totals: dict[str, list[float]] = {}  # drafts, kept, tokens, accepted, ms
        self._head = ("", 0)  # the task named on a line above the figures, and the number of that line
        self.faults: list[str] = []

    def head(self, line: str, number: int) -> None:
        """Takes a line without figures that names the task of the lines below."""
        if task := _task(line):
            self._head = (task, number)

    def take(self, line: str, figures: Sequence[Figure], label: str, number: int) -> bool:
        """Takes a line and returns whether it was one of llama.cpp's."""
        named = {
            what: figure for figure in figures if figure.last in ENDS and (what := known(_NAMES, figure.name.split()))
        }
        if "drafts" in named and "tokens" in named:
            return self._statistics(line, named, label, number)
        if "ms" in named:
            self._time(line, figures, named["ms"], label, number)
            if "rate" in named:  # both on one line, typed by a person
                self._drafts(line, figures, named, label, number)
            return True
        if "rate" in named or "positions" in named:
            return self._drafts(line, figures, named, label, number)
        return "skipped" in named

    def _time(self, line: str, figures: Sequence[Figure], ms: Figure, label: str, number: int) -> None:
        if len(self._requests) >= MOST:
            return
        request = _Request(label, number, self._task_at(line, number))
        request.printed.ms = ms.value
        for figure in figures:
            if figure.unit.startswith(("tokens", "runs")) and not figure.name and figure.at > ms.at:
                request.printed.tokens = request.printed.tokens or figure.value
            elif figure.unit.startswith("ms per token"):
                request.printed.per_token = figure.value
        if request.printed.tokens and not ms.unit.startswith("s "):
            self._requests.append(request)

    def _drafts(self, line: str, figures: Sequence[Figure], found: dict[str, Figure], label: str, number: int) -> bool:
        by_unit = {figure.unit.partition(" ")[0]: figure.value for figure in figures if figure.unit}
        counted = "accepted" in by_unit and "generated" in by_unit
        if "rate" in found and not counted:
            return False
        request = self._of_task(self._task_at(line, number), label, number, new=counted)
        if counted:
            request.printed.accepted, request.printed.drafted = by_unit["accepted"], by_unit["generated"]
        if "length" in found:
            request.printed.length = found["length"].value
        if "positions" in found:
            request.printed.positions = [position for position in found["positions"].values if position <= 1]
        return True

    def _task_at(self, line: str, number: int) -> str:
        task, above = self._head
        return _task(line) or (task if 0 < number - above < 4 else "")

    def _of_task(self, task: str, label: str, number: int, *, new: bool) -> _Request:
        """The request of a line: that of its task, else the last one, unless its drafts were read already."""
        near = self._requests[-16:][::-1]
        found = next((one for one in near if task and one.task == task), near[0] if near else None)
        if found is None or (new and found.printed.drafted is not None and len(self._requests) < MOST):
            found = _Request(label, number, task)
            self._requests.append(found)
        return found

    def _statistics(self, line: str, named: dict[str, Figure], label: str, number: int) -> bool:
        """The totals cover all requests since the server started; the difference to before belongs to the last one."""
        found = _STATISTICS.search(line)
        drafter = found[1] if found else "drafter"
        spent = named["dur"].values[1] if "dur" in named and len(named["dur"].values) > 1 else None
        now = [named[what].value if what in named else 0.0 for what in ("drafts", "kept", "tokens", "accepted")]
        before = self._totals.get(drafter, [0.0] * 4)
        if now[0] < before[0] or now[2] < before[2]:
            before = [0.0] * 4  # the server was started again
        if not self._requests and len(self._requests) < MOST:
            self._requests.append(_Request(label, number))
        if len(self._totals) < 20 or drafter in self._totals:
            self._totals[drafter] = [*now, *([] if spent is None else [spent])]
            added = [after - first for after, first in zip(now, before[:4], strict=True)]
            self._requests[-1].drafters.setdefault(drafter, added)
        return True

    def seen(self, end: int = 0) -> list[Counts]:
        """The requests; those whose drafter found nothing still belong to the drafter, those without one are plain.

        A server's last request is left out if the log ends, at line `end`, before the line with its drafts.
        """
        drafters = self._drafters()
        self._cut(end)
        listed = []
        for request in self._requests:
            drafter = drafters[request.label] if request.drafters or request.printed.drafted else ""
            if (one := self._of_one(request, drafter)) is not None:
                listed.append(one)
        drafting = [one for one in listed if one.drafts]
        timed = [total for total in self._totals.values() if len(total) > 4 and total[2]]
        if timed and drafting:
            last = drafting[-1]
            of = 0 if last.block else 2  # one pass of the drafter gives a draft, or a token
            last.draft_ms, last.draft_timed = sum(total[4] for total in timed), sum(total[of] for total in timed)
        return listed

    def _cut(self, end: int) -> None:
        if not self._requests:
            return
        last = self._requests[-1]
        if last.task and last.printed.drafted is None and not last.drafters and end - last.line < 2:
            drafting = [one for one in self._requests if one.printed.drafted is not None]
            if any(one.label == last.label and one.task for one in drafting):
                self._requests.pop()

    def _drafters(self) -> dict[str, str]:
        """The drafters under each heading: those that made drafts, else all that were on."""
        asked: dict[str, set[str]] = {}
        made: dict[str, set[str]] = {}
        for request in self._requests:
            asked.setdefault(request.label, set()).update(request.drafters)
            made.setdefault(request.label, set()).update(name for name, n in request.drafters.items() if n[0])
        return {label: "+".join(sorted(made[label] or asked[label]))[:60] for label in asked}

    def _of_one(self, request: _Request, drafter: str) -> Counts | None:
        printed = request.printed
        printed.engine, printed.label, printed.line = "llama.cpp", request.label, request.line
        printed.drafter = drafter
        drafts, kept, tokens, right = (sum(counts[n] for counts in request.drafters.values()) for n in range(4))
        if printed.drafted is None and request.drafters:
            printed.drafted, printed.accepted, printed.rounds = (tokens, right, drafts) if tokens else (0.0, 0.0, 0.0)
        printed.speculated = printed.drafted is None and is_drafted(request.label)
        if printed.tokens and printed.ms and not printed.speculated:
            printed.passes = max(
                1.0, timed_tokens(printed.tokens, printed.ms, printed.per_token) - (printed.accepted or 0.0)
            )
        if printed.drafted and tokens:
            exact = tokens == printed.drafted
            several = sum(counts[0] > 0 for counts in request.drafters.values()) > 1
            if exact:
                printed.rounds, printed.first = drafts, None if printed.positions else kept
            elif not (
                several and printed.passes and printed.drafted >= 0.98 * printed.passes
            ):  # their drafts differ too much
                printed.rounds = printed.drafted * drafts / tokens
            if printed.drafted and not request.drafters:
                printed.notes.append("rounds_from_tokens")
        printed.plain = printed.drafted is None and not printed.speculated
        try:
            seen = counts_of(printed, self._name)
        except DoctorError as error:
            self.faults.append(str(error))
            return None
        seen.block = any(word in printed.drafter for word in _BLOCKS)
        return seen


def _task(line: str) -> str:
    found = _TASK.search(line)
    return found[1] if found else ""


PAUSED = 0.5  # of the median throughput: a slower line includes the time in which the server was idle
_DATE = re.compile(r"\b(20\d\d-\d\d-\d\d)\b")
CHANGED = "2025-11-13"  # since then the rate excludes the target's additional token


def read_sglang_lines(lines: Sequence[Printed]) -> list[Printed]:
    """The lines with a time, with the draft length that follows from length and rate."""
    listed: list[Printed] = []
    for label in dict.fromkeys(line.label for line in lines):
        for drafting in (True, False):
            group = [
                line
                for line in lines
                if line.label == label and (line.length is not None) == drafting and not line.speculated
            ]
            speeds = [line.speed / max(1.0, line.running or 1.0) for line in group if line.speed]
            usual = median(speeds) if speeds else 0.0
            k = _sglang_length(group) if drafting else None
            for line in group:
                speed = (line.speed or 0.0) / max(1.0, line.running or 1.0)
                if drafting and (line.length is None or line.length < 1.0):
                    continue
                if (speed < PAUSED * usual or not speed) and (not drafting or len(group) > 1):
                    continue
                line.notes, line.plain = [], not drafting
                if k is not None:
                    line.k, line.rate = k, None
                if len(group) == 1 and drafting:
                    line.notes.append("one_line")
                listed.append(line)
    unread = [line for line in lines if line.speculated]
    for line in unread:
        line.notes, line.rate = [], None
    return listed + unread


def _sglang_length(group: Sequence[Printed]) -> int | None:
    """Drafted tokens per pass: the rate is (length - 1) / k, in earlier versions length / (k + 1)."""
    now = [((line.length or 1.0) - 1.0) / line.rate for line in group if line.rate and (line.length or 0) > 1]
    before = [(line.length or 1.0) / line.rate for line in group if line.rate and (line.length or 0) >= 1]
    if not before:
        return None
    if any((line.rate or 0.0) > 1 for line in group):
        return length_of(float(round(median(before))))  # the first versions divide by the steps alone
    slack = [0.006 * (1 + each) / (line.rate or 1.0) for each, line in zip(before, group, strict=False)]
    fit_now = _fitting(now, slack) if now else -1
    fit_before = _fitting(before, slack)
    earlier = fit_before > fit_now
    if fit_before == fit_now:
        text = " ".join(line.notes[0] for line in group[:1] if line.notes)
        date = _DATE.search(text)
        earlier = "Decode batch." in text or (date is not None and date[1] < CHANGED)
    return length_of(float(round(median(before)) - 1 if earlier else round(median(now))))


def _fitting(lengths: Sequence[float], slack: Sequence[float]) -> int:
    """How many are as close to the rounded median as the printed digits allow."""
    middle = round(median(lengths))
    return sum(abs(each - middle) <= wide for each, wide in zip(lengths, slack, strict=False))
