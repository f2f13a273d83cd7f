"""SGLang's lines `Decode batch`, compared with each other: what their rate is of, and which counts a pause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from hsd_core.doctor.reading.numbers import length_of
from hsd_core.doctor.reading.told import Told

PAUSED = 0.5  # of the median throughput: a slower line counts the time since the server was last busy
_DATE = re.compile(r"\b(20\d\d-\d\d-\d\d)\b")
CHANGED = "2025-11-13"  # since then the rate leaves out the target's own token


def sglang_told(lines: Sequence[Told]) -> list[Told]:
    """The lines that tell a time, with the draft length that follows from length and rate."""
    listed: list[Told] = []
    for label in dict.fromkeys(line.label for line in lines):
        for drafting in (True, False):
            group = [
                line
                for line in lines
                if line.label == label and (line.length is not None) == drafting and not line.speculated
            ]
            speeds = [line.speed / max(1.0, line.running or 1.0) for line in group if line.speed]
            usual = median(speeds) if speeds else 0.0
            k = _length(group) if drafting else None
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


def _length(group: Sequence[Told]) -> int | None:
    """Drafted tokens a pass: the rate is (length - 1) / k, in earlier versions length / (k + 1)."""
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
    """How many lie as near to the whole number in their middle as rounding allows."""
    middle = round(median(lengths))
    return sum(abs(each - middle) <= wide for each, wide in zip(lengths, slack, strict=False))
