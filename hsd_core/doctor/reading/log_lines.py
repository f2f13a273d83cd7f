"""The lines of a text, each read for its figures; with a new heading another setting begins."""

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
    ONE_LINE,
    SEVERAL_LINES,
    SGLANG,
    TENSORRT_STEP,
    VLLM_LINE,
    VLLM_THROUGHPUT,
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
APART = 80  # most lines between two figures of one output
WRAPPED = 6  # most lines that one line of a log is wrapped into
_BEFORE, _BEHIND = 300, 1500  # characters around a mark that are read
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
# how a new line begins that does not continue the one before
_BEGINS = re.compile(
    r"\s*(?:\d[\d.:-]{5,}|\[20|\(\w+ pid|INFO|WARN|ERROR|DEBUG|slot |srv |time=|statistics|prompt eval|eval time|total"
    r" time|main:|common_|llama_|\{|```)"
)
_ENDS = ENDS | LLAMA_ENDS
_OUTPUT = re.compile(r"--output-len[ =](\d{1,6})\b")
_DRAFTS = re.compile(r"accept|draft", re.IGNORECASE)
_OTHER_STATISTIC = re.compile(r"\W*(?:median|p\d\d|max|min|std)\b", re.IGNORECASE)


class LogReader:
    """Reads the lines of a text; `seen` returns their counts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._llama = LlamaLog(name)
        self._printed: list[Printed] = []
        self._sglang: list[Printed] = []
        self._pieces: list[Counts] = []
        self._throughput: list[tuple[str, float, float]] = []  # heading, tokens/s, requests
        self._scheduled: list[float] = []  # requests of each of TensorRT-LLM's iterations
        self._open: dict[int, tuple[Fields, str, int, int]] = {}  # forms over several lines
        self._label = ""
        self._read = self._end = 0
        self.taken: set[int] = set()  # lines whose figures belong to a form
        self._beside: set[int] = set()  # lines of a benchmark with the median or the like of a mean that was read
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
        """The counts of each output."""
        for printed in read_sglang_lines(self._sglang):
            self._printed.append(printed)
        seen = [one for printed in _last_of_rising(self._printed) if (one := self._checked(printed)) is not None]
        seen += self._pieces + self._llama.seen(self._end)
        self.faults += self._llama.faults
        self._bounds(seen)
        return seen

    def _checked(self, printed: Printed) -> Counts | None:
        try:
            return counts_of(printed, self._name)
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
        for form in ONE_LINE:
            fields = fields_of(form, found)
            if form.complete(fields):
                self.taken.add(number)
                self._one_line(form, fields, line, number)
                return
        if _OTHER_STATISTIC.match(line):
            self._beside.add(number)
        taken = False
        for form_id, form in enumerate(SEVERAL_LINES):
            if fields := fields_of(form, found):
                taken = True
                self._several_lines(form_id, fields, number)
        if not taken:
            self._heading(line)
        score = min(len(found), 20) + 30 * bool(_DRAFTS.search(line))
        if score > self.nearest[0]:
            self.nearest = (score, number, line.strip())

    def _inside_example(self, line: str) -> bool:
        """Whether a time belongs to one of the two models of llama-speculative, which prints the total too."""
        return self._label in ("draft", "target") and "llama_p" in line

    def _one_line(self, form: Form, fields: Fields, line: str, number: int) -> None:
        label = self._label
        if form is VLLM_THROUGHPUT:
            self._throughput.append((label, fields["interval_speed"][0], fields["running"][0]))
            return
        if form is TENSORRT_STEP:
            self._scheduled += [running for running in fields["running"] if running > 0]
            return
        printed = printed_of(form, fields)
        printed.label, printed.line = label, number
        if form.mark and form.mark not in line.lower():
            printed.engine = "" if form is not VLLM_LINE or not printed.positions else "vllm"
        if form is SGLANG:
            printed.speculated = printed.length is None and "accept" in line
            printed.notes.append(line[:200])  # has the date and version, until the lines are compared
            self._sglang.append(printed)
        else:
            self._printed.append(printed)

    def _several_lines(self, form_id: int, fields: Fields, number: int) -> None:
        """Adds a figure to an output over several lines; a figure that it already has begins the next output."""
        held, label, first, last = self._open.get(form_id, ({}, self._label, number, number))
        if held and (number - last > APART or any(field in held for field in fields) or label != self._label):
            self._flush(form_id)
            held, label, first = {}, self._label, number
        self._open[form_id] = ({**held, **fields}, label, first, number)

    def _flush(self, form_id: int) -> None:
        fields, label, first, last = self._open.pop(form_id)
        form = SEVERAL_LINES[form_id]
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
        printed = printed_of(form, fields)
        printed.label, printed.line = label, first
        if form is LATENCY:  # of a complete request: its length is in the command
            length = _OUTPUT.search(label)
            if length is None:
                return
            printed.tokens = float(length[1])
        printed.plain = not printed.mentions_drafts
        if printed.plain and is_drafted(label):
            printed.plain, printed.speculated = False, True
        self._printed.append(printed)

    def _heading(self, line: str) -> None:
        if (found := heading(line)) is not None:
            self._label = found[:LONGEST]

    def _bounds(self, seen: list[Counts]) -> None:
        """Bounds on the time of a token from the throughput of intervals with one request, pauses included."""
        for part in seen if self._scheduled else []:
            part.running = part.running or sum(self._scheduled) / len(self._scheduled)
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
    """A wrapped line, joined again; its figures, and how many lines were used."""
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
    """How many figures of a form the line has, and whether they are consistent."""
    found = figures(line)
    best = (0, True)
    for form in ONE_LINE:
        fields = fields_of(form, found)
        if form.complete(fields) or len(fields) > 1:
            printed = printed_of(form, fields)
            best = max(best, (sum(map(len, fields.values())), fits(printed)))
    llama = ("draft acceptance", "mean", "acc per pos", "#gen tokens", "#acc", "dur")
    return max(best, (sum(any(name in figure.name for name in llama) for figure in found), True))


def _around_marks(line: str) -> Iterator[str]:
    end = 0
    for mark in _MARK.finditer(line):
        if mark.start() >= end:
            end = mark.start() + _BEHIND
            yield line[max(0, mark.start() - _BEFORE) : end]


def _last_of_rising(printed: Sequence[Printed]) -> Iterator[Printed]:
    """Of totals that are printed again and again only the last line."""
    rising: dict[str, Printed] = {}
    for one in printed:
        if "rising" in one.notes:
            rising[one.label] = replace(one, notes=[note for note in one.notes if note != "rising"])
        else:
            yield one
    yield from rising.values()
