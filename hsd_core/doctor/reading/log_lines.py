"""Log lines of vLLM, llama.cpp and SGLang, read one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from hsd_core.doctor.reading.seen import DoctorError, Seen, added, check, timed_tokens, tried_of

_NUMBER = r"([0-9.]+|nan|-nan|inf)"
_VLLM = re.compile(
    rf"SpecDecoding metrics: .*?Mean acceptance length: {_NUMBER},.*?Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    r"Per-position acceptance rate: ([0-9., ]+?), Avg"
)
_VLLM_RUNNING = re.compile(r"Running: (\d+) reqs?, Waiting")
_SGLANG = re.compile(
    rf"Decode batch.*?#running-req: (\d+).*?accept len: {_NUMBER}(?:, accept rate: {_NUMBER})?"
    rf".*?gen throughput \(token/s\): {_NUMBER}"
)
_EVAL = re.compile(rf"(?<!prompt )\beval time =\s*{_NUMBER} ms /\s*(\d+) (?:tokens|runs)(?: \(\s*([0-9.]+) ms per)?")
_ACCEPTED = re.compile(
    rf"draft acceptance(?: rate)? =\s*{_NUMBER} \(\s*(\d+) accepted /\s*(\d+) generated\)"
    rf"(?:, mean (?:acceptance )?len(?:gth)? =\s*{_NUMBER})?(?:, acceptance rate per position = \(([^)]*)\))?"
)
_PLACES = re.compile(r"acc per pos = \(([^)]*)\)")
_STATISTICS = re.compile(
    r"statistics\s+(\S+): #calls.*?#gen drafts =\s*(\d+), #acc drafts =\s*\d+, #gen tokens =\s*(\d+), "
    rf"#acc tokens =\s*(\d+)(?:.*?dur\(b,g,a\) =\s*{_NUMBER}, {_NUMBER}, {_NUMBER} ms)?"
)
# what a line of interest has, whether or not its numbers can be read
_MARKS = (
    ("vllm", "SpecDecoding metrics:", _VLLM),
    ("llama.cpp", "draft acceptance", _ACCEPTED),
    ("llama.cpp", "#gen tokens =", _STATISTICS),
    ("sglang", "accept len:", _SGLANG),
)
_BEFORE, _BEHIND = 300, 1200  # characters around a mark that are looked at
_MOST_CUT = 1000  # lines
_COMMA = re.compile(r"\d,\d")


@dataclass
class _Request:
    """A request of llama.cpp's: its lines come one after another."""

    decode_ms: float
    tokens: float
    drafted: float = 0.0
    accepted: float = 0.0
    mean: float | None = None
    places: list[float] = field(default_factory=list)


@dataclass
class _Drafter:
    """What llama.cpp has printed last of a drafter, since its server began."""

    drafts: float
    tokens: float
    ms: float | None


class LogReader:
    """Takes the lines of a log.

    Raises:
        DoctorError: a line has decimal commas, or lines of two engines.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._engines: set[str] = set()
        self._vllm: list[Seen] = []
        self._sglang: list[Seen] = []
        self._requests: list[_Request] = []
        self._drafters: dict[str, _Drafter] = {}
        self._running: list[float] = []
        self._cut = 0

    def read(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, 1):
            for engine, mark, form in _MARKS:
                if (place := line.find(mark)) >= 0:
                    self._take(engine, form, line[max(0, place - _BEFORE) : place + _BEHIND], number)
            if len(line) > _BEFORE + _BEHIND:
                continue  # somebody's prompt
            if found := _VLLM_RUNNING.search(line):
                self._running.append(float(found[1]))
            elif found := _EVAL.search(line):
                ms, mean = self._value(found[1], number), self._value(found[3], number) if found[3] else None
                self._requests.append(_Request(ms, timed_tokens(float(found[2]), ms, mean)))
            elif (found := _PLACES.search(line)) and self._requests:
                self._requests[-1].places = self._rates(found[1], number)

    def seen(self) -> list[Seen]:
        """What was read; nothing for a log without lines of speculation.

        Raises:
            DoctorError: lines of two engines, or none of them was whole.
        """
        if len(self._engines) > 1:
            both = " and ".join(sorted(self._engines))
            raise DoctorError(f"{self._name}: holds log lines of {both}; give each engine a file of its own")
        if self._engines == {"vllm"}:
            parts = self._vllm
        elif self._engines == {"sglang"}:
            parts = self._sglang
        else:
            parts = self._llama()
        if self._engines and not parts:
            raise DoctorError(f"{self._name}: its lines of speculation are cut off; save whole lines")
        whole = [check(part) for part in parts]
        if not whole:
            return []
        seen = added(whole)
        busy = [n for n in self._running if n > 0]
        if busy:
            seen.running = sum(busy) / len(busy)
        if self._cut:
            seen.notes.append(f"cut_lines:{self._cut}")
        return [seen]

    def _take(self, engine: str, form: re.Pattern[str], line: str, number: int) -> None:
        part = line[line.index("SpecDecoding") :] if engine == "vllm" else line[_start(line) :]
        if _COMMA.search(part):
            raise DoctorError(
                f"{self._name}, line {number}: {part[_COMMA.search(part).start() - 3 :][:12]!r} has a decimal comma; "  # type: ignore[union-attr]
                "run the server with LC_ALL=C, or replace the commas of numbers by points"
            )
        self._engines.add(engine)
        found = form.search(line)
        if found is None:
            self._cut += 1
            if self._cut > _MOST_CUT:
                raise DoctorError(
                    f"{self._name}: more than {_MOST_CUT} lines of speculation are cut off; save whole lines"
                )
        elif form is _VLLM:
            self._of_vllm(found, number)
        elif form is _SGLANG:
            self._of_sglang(found, number)
        elif form is _ACCEPTED:
            self._of_request(found, number)
        else:
            self._of_drafter(found, number)

    def _of_vllm(self, found: re.Match[str], number: int) -> None:
        mean, accepted, drafted = self._value(found[1], number), float(found[2]), float(found[3])
        rates = self._rates(found[4], number)
        k = len(rates)
        if not k:
            self._cut += 1
            return
        rounds = drafted / k
        if mean > 1.0:
            by_mean = accepted / (mean - 1.0)
            slack = by_mean * 0.005 / (mean - 1.0) + 1.0  # the mean is rounded to 0.01
            rounds = rounds if abs(rounds - by_mean) <= slack else by_mean
        kept = _whole([rate * rounds for rate in rates], accepted)
        part = Seen(engine="vllm", name=self._name, kind="log", rounds=rounds, drafted=drafted, accepted=accepted, k=k)
        part.kept = kept
        if not part.lengths_vary:
            part.tried = tried_of(kept, rounds)
        self._vllm.append(part)

    def _of_sglang(self, found: re.Match[str], number: int) -> None:
        running, length = float(found[1]), self._value(found[2], number)
        rate, speed = found[3], self._value(found[4], number)
        part = Seen(engine="sglang", name=self._name, kind="log", running=running)
        if length <= 0:
            return
        # one line stands for as many rounds as it likes: its means weigh as much as the others'
        part.rounds, part.accepted = 1.0, max(0.0, length - 1.0)
        if rate is not None and (share := self._value(rate, number)) > 0 and length > 1:
            part.k = round((length - 1.0) / share) or None
            part.drafted = max(float(part.k or 0), part.accepted) or None
        part.notes = ["means"]
        if speed > 0 and running > 0:
            part.decode_ms, part.timed_tokens, part.timed_passes = 1e3 * length * running / speed, length, 1.0
        self._sglang.append(part)

    def _of_request(self, found: re.Match[str], number: int) -> None:
        if not self._requests or self._requests[-1].drafted:
            self._requests.append(_Request(0.0, 0.0))
        request = self._requests[-1]
        request.accepted, request.drafted = float(found[2]), float(found[3])
        request.mean = self._value(found[4], number) if found[4] else None
        if found[5]:
            request.places = self._rates(found[5], number)

    def _of_drafter(self, found: re.Match[str], number: int) -> None:
        """The statistics are of all requests since the server began: the last line of a drafter has them all."""
        ms = self._value(found[6], number) if found[6] else None
        self._drafters[found[1]] = _Drafter(float(found[2]), float(found[3]), ms)

    def _llama(self) -> list[Seen]:
        parts = [self._of_one(request) for request in self._requests]
        if not any(part.drafts for part in parts) and not self._drafters:
            self._engines |= {"llama.cpp"} if parts else set()
            return parts
        timed = [one for one in self._drafters.values() if one.ms is not None and one.tokens]
        drafter = "+".join(sorted(self._drafters))[:60]
        for part in parts:
            part.drafter = drafter
        if not any(part.drafts for part in parts):
            made = list(self._drafters.values())
            part = Seen(engine="llama.cpp", name=self._name, kind="log", drafter=drafter)
            part.rounds, part.drafted = sum(one.drafts for one in made), sum(one.tokens for one in made)
            part.accepted = 0.0 if not part.drafted else None
            parts.append(part)
        if timed:
            parts[-1].draft_ms = sum(one.ms or 0.0 for one in timed)
            parts[-1].draft_timed = sum(one.tokens for one in timed)
        return parts

    def _of_one(self, request: _Request) -> Seen:
        part = Seen(engine="llama.cpp", name=self._name, kind="log")
        part.drafted, part.accepted, part.rounds = request.drafted, request.accepted, 0.0
        if request.tokens and request.decode_ms:
            part.decode_ms, part.timed_tokens = request.decode_ms, request.tokens
            part.timed_passes = max(1.0, request.tokens - request.accepted)
        if not request.drafted:
            return part
        part.rounds = None
        if request.mean is not None and request.mean > 1.0:
            part.rounds = request.accepted / (request.mean - 1.0)
            if part.timed_passes and abs(part.timed_passes - part.rounds) <= part.rounds * 0.005 / (request.mean - 1):
                part.rounds = part.timed_passes  # the mean is rounded to 0.01
        elif request.mean is not None and part.timed_passes:
            part.rounds = part.timed_passes
        elif part.timed_passes:
            part.rounds = part.timed_passes
            part.notes.append("rounds_from_tokens")
        if part.rounds:
            if request.places:
                part.k = len(request.places)
                part.kept = _whole([rate * part.rounds for rate in request.places], request.accepted)
                if not part.lengths_vary:
                    part.tried = tried_of(part.kept, part.rounds)
            else:
                part.k = max(1, -int(-request.drafted // part.rounds))
        return part

    def _value(self, text: str, number: int) -> float:
        try:
            value = float(text)
        except ValueError:
            raise DoctorError(f"{self._name}, line {number}: {text[:40]!r} is no number; save the log again") from None
        if not value < float("inf"):
            raise DoctorError(
                f"{self._name}, line {number}: a figure is {text}; leave that line out, nothing was counted there"
            )
        return value

    def _rates(self, text: str, number: int) -> list[float]:
        return [self._value(rate.strip(), number) for rate in text.split(",") if rate.strip()]


def _start(line: str) -> int:
    return min(
        place
        for mark in ("draft acceptance", "statistics ", "accept len:", "#gen tokens")
        if (place := line.find(mark)) >= 0
    )


def _whole(kept: list[float], accepted: float) -> list[float]:
    """Counts of rounded rates: rounded to whole ones where these add up to what was accepted."""
    near = [float(round(count)) for count in kept]
    return near if abs(sum(near) - accepted) <= 0.5 else kept
