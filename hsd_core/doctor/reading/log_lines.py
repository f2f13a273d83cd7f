"""The lines of a text, each read for the figures in it; where the text changes its heading another setting begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.reading.engine_logs import ENDS as LLAMA_ENDS
from hsd_core.doctor.reading.engine_logs import LlamaLog, read_sglang_lines
from hsd_core.doctor.reading.figures import Figure, figures
from hsd_core.doctor.reading.forms import (
    ENDS,
    LATENCY,
    SGLANG,
    SPREAD,
    VLLM_LINE,
    VLLM_THROUGHPUT,
    WHOLE,
    Fields,
    Form,
    fields_of,
    printed_of,
)
from hsd_core.doctor.reading.headings import LONGEST, heading, is_drafted, is_plain
from hsd_core.doctor.reading.pasted_text import LONGEST_LINE
from hsd_core.doctor.reading.printed import Printed, counts_of, fits
from hsd_core.doctor.reading.replies import counts_in_reply

MOST_READ = 200_000  # lines with figures of interest
APART = 80  # lines between two figures of one output
WRAPPED = 6  # lines that one line of a log may be wrapped into
_BEFORE, _BEHIND = 300, 1500  # characters around a mark that are looked at
_INTEREST = (
    *("accept", "draft", "acc per pos", "eval time", "throughput", "spec", "tpot", "itl", "n_predict", "decoded"),
    *("predicted_", "pred=", "generat", "#gen", "running-req", "requests", "position", "tok/s", "t/s", "tokens per"),
    *("tokens/", "tokens-per", "tokens_per", "tokensper", "tokenscount", "new_tokens", "time_generate", "[ar]", "[al]"),
    *("[dt]", "concurrency", "completion_tok", "latency", "completed"),
)
_MARKS = ("specdecoding", "speculative metrics", "decode batch", "draft acceptance", "#gen drafts", "spec_verify_ct")
_MARK = re.compile(
    r"specdecoding|speculative metrics|decode batch|(?<!avg )draft acceptance|#gen drafts|spec_verify_ct", re.I
)
# how a line of its own begins, which is no end of the line before
_BEGINS = re.compile(
    r"\s*(?:\d[\d.:-]{5,}|\[20|\(\w+ pid|INFO|WARN|ERROR|DEBUG|slot |srv |time=|statistics|prompt eval|eval time|total"
    r" time|main:|common_|llama_|\{|```)"
)
_ENDS = ENDS | LLAMA_ENDS
_OUTPUT = re.compile(r"--output-len[ =](\d{1,6})\b")
_DRAFTS = re.compile(r"accept|draft", re.IGNORECASE)
_BESIDE_A_MEAN = re.compile(r"\W*(?:median|p\d\d|max|min|std)\b", re.IGNORECASE)


class LogReader:
    """Takes the lines of a text; `seen` gives what they told."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._llama = LlamaLog(name)
        self._told: list[Printed] = []
        self._sglang: list[Printed] = []
        self._pieces: list[Counts] = []
        self._throughput: list[tuple[str, float, float]] = []  # heading, tokens/s, requests
        self._open: dict[int, tuple[Fields, str, int, int]] = {}  # of forms over several lines
        self._label = ""
        self._read = self._end = 0
        self.taken: set[int] = set()  # lines that a form took figures from
        self._beside: set[int] = set()  # lines of a benchmark with the median, or the like, of what has a mean
        self.nearest: tuple[int, int, str] = (0, 0, "")  # figures, line, text of the line that came nearest
        self.faults: list[str] = []

    def read(self, lines: Iterable[tuple[int, str]]) -> None:
        waiting = list(lines)
        self._end = max((number for number, line in waiting[-20:] if line.strip()), default=0)
        skip = 0
        for at, (number, line) in enumerate(waiting):
            if skip:
                skip -= 1
                continue
            if len(line) > LONGEST_LINE:
                for part in _around_marks(line):
                    self._line(part, number, figures(part))
                continue
            low = line.lower()
            if not any(word in low for word in _INTEREST):
                if "print_timing" in line:
                    self._llama.head(line, number)
                self._heading(line)
                continue
            self._read += 1
            if self._read > MOST_READ:
                continue
            found = figures(line)
            if any(mark in low for mark in _MARKS) and _MARK.search(line):
                line, found, skip = _unwrapped(line, found, [text for _, text in waiting[at + 1 : at + 1 + WRAPPED]])
            self._line(line, number, found)
        for form_id in list(self._open):
            self._flush(form_id)

    def seen(self) -> list[Counts]:
        """What was read, an entry for each output."""
        for told in read_sglang_lines(self._sglang):
            self._told.append(told)
        seen = [one for told in _last_of_rising(self._told) if (one := self._checked(told)) is not None]
        seen += self._pieces + self._llama.seen(self._end)
        self.faults += self._llama.faults
        self._bounds(seen)
        return seen

    def _checked(self, told: Printed) -> Counts | None:
        try:
            return counts_of(told, self._name)
        except DoctorError as error:
            self.faults.append(str(error))
            return None

    def _line(self, line: str, number: int, found: Sequence[Figure]) -> None:
        if not any(figure.last in _ENDS or figure.last.isdecimal() or figure.unit for figure in found):
            self._heading(line)
            return
        if self._inside_example(line) or self._llama.take(line, found, self._label, number):
            self.taken.add(number)
            return
        for form in WHOLE:
            fields = fields_of(form, found)
            if form.complete(fields):
                self.taken.add(number)
                self._whole(form, fields, line, number)
                return
        if _BESIDE_A_MEAN.match(line):
            self._beside.add(number)
        taken = False
        for form_id, form in enumerate(SPREAD):
            if fields := fields_of(form, found):
                taken = True
                self._spread(form_id, fields, number)
        if not taken:
            self._heading(line)
        score = min(len(found), 20) + 30 * bool(_DRAFTS.search(line))
        if score > self.nearest[0]:
            self.nearest = (score, number, line.strip())

    def _inside_example(self, line: str) -> bool:
        """Whether a time is of one of the two models of llama-speculative, which says the sum itself."""
        return self._label in ("draft", "target") and "llama_p" in line

    def _whole(self, form: Form, fields: Fields, line: str, number: int) -> None:
        label = self._label
        if form is VLLM_THROUGHPUT:
            self._throughput.append((label, fields["interval_speed"][0], fields["running"][0]))
            return
        told = printed_of(form, fields)
        told.label, told.line = label, number
        if form.mark and form.mark not in line.lower():
            told.engine = "" if form is not VLLM_LINE or not told.places else "vllm"
        if form is SGLANG:
            told.speculated = told.length is None and "accept" in line
            told.notes.append(line[:200])  # its date and version, until the lines are compared
            self._sglang.append(told)
        else:
            self._told.append(told)

    def _spread(self, form_id: int, fields: Fields, number: int) -> None:
        """Another figure of an output over several lines; one that it has already begins the next."""
        held, label, first, last = self._open.get(form_id, ({}, self._label, number, number))
        if held and (number - last > APART or any(field in held for field in fields) or label != self._label):
            self._flush(form_id)
            held, label, first = {}, self._label, number
        self._open[form_id] = ({**held, **fields}, label, first, number)

    def _flush(self, form_id: int) -> None:
        fields, label, first, last = self._open.pop(form_id)
        form = SPREAD[form_id]
        if not form.complete(fields):
            return
        while last + 1 in self._beside:
            last += 1
        self.taken.update(range(first, last + 1))
        if form.about:  # a piece of a reply
            piece = {form.about: {field: values[0] for field, values in fields.items()}}
            try:
                if (seen := counts_in_reply(piece, self._name)) is not None:
                    seen.label = label
                    self._pieces.append(seen)
            except DoctorError as error:
                self.faults.append(str(error))
            return
        told = printed_of(form, fields)
        told.label, told.line = label, first
        if form is LATENCY:  # of a whole request: its length stands in the command
            length = _OUTPUT.search(label)
            if length is None:
                return
            told.tokens = float(length[1])
        told.plain = not told.speaks
        if told.plain and is_drafted(label):
            told.plain, told.speculated = False, True
        self._told.append(told)

    def _heading(self, line: str) -> None:
        if (found := heading(line)) is not None:
            self._label = found[:LONGEST]

    def _bounds(self, seen: list[Counts]) -> None:
        """The throughput of an interval with one request: a token took at most so long, pauses included."""
        for label in dict.fromkeys(label for label, _, _ in self._throughput):
            of = [(speed, running) for which, speed, running in self._throughput if which == label]
            alone = [speed for speed, running in of if running == 1 and speed > 0]
            busy = [running for _, running in of if running > 0]
            at_most = 1e3 / median(alone) if alone else None
            parts = [one for one in seen if one.engine == "vllm" and one.label == label and one.drafts]
            if not parts and (alone or busy) and (is_plain(label) or not any(one.drafts for one in seen)):
                parts = [Counts(engine="vllm", name=self._name, kind="log", label=label)]
                seen += parts
            for part in parts:
                part.at_most_ms = at_most
                part.running = sum(busy) / len(busy) if busy else part.running


def _unwrapped(line: str, found: list[Figure], behind: Sequence[str]) -> tuple[str, list[Figure], int]:
    """A line that a form has wrapped, joined again; how many lines were used up."""
    taken = 0
    for following in behind:
        if not following.strip() or _BEGINS.match(following) or _MARK.search(following) or len(line) > LONGEST_LINE:
            break
        glued = (line.rstrip("\n") + following, f"{line.rstrip()} {following.strip()}")
        tried = [(_known(one), one) for one in glued]
        best = max(tried, key=lambda each: (each[0][0], each[0][1], each[1] == glued[0] and line[-1:].isdigit()))
        if best[0][0] <= _known(line)[0]:
            break
        line, taken = best[1], taken + 1
        found = figures(line)
    return line, found, taken


def _known(line: str) -> tuple[int, bool]:
    """How many figures of a form the line has, and whether they go together."""
    found = figures(line)
    best = (0, True)
    for form in WHOLE:
        fields = fields_of(form, found)
        if form.complete(fields) or len(fields) > 1:
            told = printed_of(form, fields)
            best = max(best, (sum(map(len, fields.values())), fits(told)))
    llama = ("draft acceptance", "mean", "acc per pos", "#gen tokens", "#acc", "dur")
    return max(best, (sum(any(name in figure.name for name in llama) for figure in found), True))


def _around_marks(line: str) -> Iterator[str]:
    end = 0
    for mark in _MARK.finditer(line):
        if mark.start() >= end:
            end = mark.start() + _BEHIND
            yield line[max(0, mark.start() - _BEFORE) : end]


def _last_of_rising(told: Sequence[Printed]) -> Iterator[Printed]:
    """Counts that go on rising are told by their last line."""
    rising: dict[str, Printed] = {}
    for one in told:
        if "rising" in one.notes:
            rising[one.label] = replace(one, notes=[note for note in one.notes if note != "rising"])
        else:
            yield one
    yield from rising.values()
