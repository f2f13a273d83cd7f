"""What people write of their runs themselves: tables, and lines of speed and acceptance in any engine's words.

Asked where no form of an engine's own was found, and for tables: a speed beside each draft length says which is best.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from hsd_core.doctor.reading.lines.figures import Figure, figures
from hsd_core.doctor.reading.lines.forms import known
from hsd_core.doctor.reading.lines.sections import LONGEST, heading, is_command, is_drafted, is_plain, length_in
from hsd_core.doctor.reading.numbers import length_of
from hsd_core.doctor.reading.told import Told

_CALLED = {
    "length": "acceptance length|accept length|accept len|accpt len|acceptance len|accepted length|acc_len"
    "|accept_length|acceptance_length|mean accepted len|mean acceptance length|mean accepted length|tokens per step|tau"
    "|tokens per pass|tokens/pass|tokens per forward|tokens/forward",
    "rate": "acceptance rate|accept rate|draft acceptance rate|acceptance|draft rate|accept_rate|acceptance_rate"
    "|aggregate_accept_rate|accept",
    "speed": "tok/s|t/s|tps|tokens/s|tok/sec|tokens/sec|tokens per second|speed|throughput|generate|generation speed"
    "|decode speed|tokens_per_second",
    "per_token": "ms per token|ms/token|ms/tok|tpot",
    "k": "num_speculative_tokens|draft length|draft-max|n-max|draft-n-max|k|n_max|spec-draft-n-max|num_draft_tokens"
    "|speculative-num-steps|num_steps|gamma",
    "accepted": "accepted|accepted tokens|draft tokens accepted|accepted draft tokens",
    "drafted": "drafted|proposed|draft tokens|drafted tokens|total draft tokens",
}
_NAMES = {name: what for what, names in _CALLED.items() for name in names.split("|")}
_UNITS = {
    "speed": ("tok/s", "tok/sec", "t/s", "tokens/s", "toks/s", "tokens-per-sec", "tps", "tokens per second"),
    "per_token": ("ms per token", "ms/token", "ms/tok"),
    "accepted": ("accepted",),
    "drafted": ("generated", "drafted", "draft tokens", "proposed"),
    "tokens": ("tokens generated in", "tokens"),
}
_READING = re.compile(r"prompt|prefill|process|input|encod|\bpp\b|load|total token", re.IGNORECASE)
_WRITING = re.compile(r"generat|decod|output|\beval|\btg\b|predict|speed|throughput|with", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:and|but|vs|versus|against|while|than|to|instead)\b|[;,→]")
_ENGINES = (
    ("mlx-lm", re.compile(r"mlx|tokens-per-sec", re.IGNORECASE)),
    ("tabbyapi", re.compile(r"tabby|exllama|\bexl[23]\b|cached tokens and", re.IGNORECASE)),
    ("lmstudio", re.compile(r"lm ?studio|\blms\b", re.IGNORECASE)),
    ("tensorrt-llm", re.compile(r"tensorrt|trt-?llm", re.IGNORECASE)),
    ("koboldcpp", re.compile(r"kobold", re.IGNORECASE)),
    ("sglang", re.compile(r"sglang|sgl\b|--speculative-num-steps|#questions", re.IGNORECASE)),
    ("vllm", re.compile(r"vllm|num_speculative_tokens", re.IGNORECASE)),
    ("llama.cpp", re.compile(r"llama\.cpp|llama-|gguf|--spec-|draft-max", re.IGNORECASE)),
    ("transformers", re.compile(r"transformers|assistant_model|prompt_lookup", re.IGNORECASE)),
)
MOST_LINES = 5_000
SHOWN = 48  # characters of a line that stand for its run
Cells = list[str]


def engine_in(text: str) -> str:
    """The engine that a text speaks of most; "" for none."""
    counts = {name: len(pattern.findall(text[:200_000])) for name, pattern in _ENGINES}
    most = max(counts, key=lambda name: counts[name])
    return most if counts[most] else ""


def lines_told(lines: Sequence[tuple[int, str]]) -> list[Told]:
    """A line that tells a speed or an acceptance is a run; its own words, or its heading, say which.

    A speed of which nothing is said is plain decoding where no other line speaks of drafts.
    """
    found: list[Told] = []
    neutral: list[Told] = []
    label, last = "", None
    for number, line in islice(_clauses(lines), MOST_LINES):
        told = _line(line, figures(line))
        if told is None:
            if (head := heading(line)) is not None:
                label, last = head, None
            continue
        own = _own(line)
        told.line = number
        timed = told.speed is not None or told.per_token is not None
        if last is not None and not own and last.line + 4 > number and not (timed and _timed(last)):
            _more(last, told)  # the rest of the run before
            continue
        told.label = (own or label)[:LONGEST].strip()
        told.k = told.k or length_in(told.label)
        told.plain = not told.speaks and (is_plain(told.label) or (is_command(label) and not is_drafted(label)))
        told.speculated = not told.speaks and not told.plain and is_drafted(told.label)
        (found if told.speaks or told.plain or told.speculated else neutral).append(told)
        last = told
    for told in [] if any(one.speaks or one.speculated for one in found) else neutral:
        told.plain = True
        found.append(told)
    return found


def _clauses(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines, those with several speeds divided between them."""
    for number, line in lines:
        if len(line) > 2_000 or line.count("|") > 2:
            continue
        speeds = [one.at for one in figures(line) if one.unit.startswith(_UNITS["speed"]) and _written(line, one)]
        start = 0
        for before, after in pairwise(speeds):
            between = _BETWEEN.search(line, before, after)
            cut = between.start() if between else after
            yield number, line[start:cut]
            start = cut
        yield number, line[start:]


def _own(line: str) -> str:
    """What a line says of its own run: its beginning, as far as a colon, or all of it."""
    lead, colon, _ = line.partition(":")
    for part in (lead if colon and len(lead) < 60 else "", line[:LONGEST]):
        bare = part.strip(" -*#>\t")
        if is_plain(bare) or is_drafted(bare):
            return bare if len(bare) <= SHOWN else f"{bare[:SHOWN].rsplit(' ', 1)[0]} ..."
    return ""


def _timed(told: Told) -> bool:
    return told.speed is not None or told.per_token is not None


def tables_told(lines: Sequence[tuple[int, str]]) -> Iterator[Told]:
    """The rows of tables whose heads name a speed, an acceptance or both."""
    head: dict[int, str] = {}
    for number, line in lines:
        cells = _cells(line)
        if len(cells) < 2:
            head = {}
        elif not head or not any(any(sign.isdigit() for sign in cell) for cell in cells):
            if any(any(sign.isalpha() for sign in cell) for cell in cells):
                found = {at: what for at, cell in enumerate(cells) if (what := _column(cell)) is not None}
                head = found if {"speed", "per_token"} & set(found.values()) else {}
        elif (told := _row(cells, head)) is not None:
            told.line = number
            yield told


def _line(line: str, found: Sequence[Figure]) -> Told | None:
    told = Told(kind="words")
    for figure in found:
        what = known(_NAMES, figure.name.split()) or _of_unit(figure)
        if what == "speed" and not _written(line, figure):
            continue
        if what is None or (what == "tokens" and told.tokens is not None):
            if what is None and told.accepted is not None and figure.unit.startswith("draft tokens"):
                told.drafted = told.drafted if told.drafted is not None else figure.value
            continue
        _put(told, what, figure)
    if told.length is not None and told.length < 1:
        told.length = None
    told.tokens = told.tokens if told.speed else None
    useful = (told.speed, told.per_token, told.length, told.rate)
    return told if any(useful) or (told.accepted is not None and told.drafted) else None


def _of_unit(figure: Figure) -> str | None:
    for what, units in _UNITS.items():
        if figure.unit.startswith(units):
            return what
    return "rate" if figure.percent and "accept" in figure.name + figure.unit else None


def _written(line: str, figure: Figure) -> bool:
    """Whether a speed is of writing tokens: the nearest word before it decides."""
    before = line[: figure.at]
    reading = max((word.start() for word in _READING.finditer(before)), default=-1)
    writing = max((word.start() for word in _WRITING.finditer(before)), default=-1)
    return writing >= reading


def _put(told: Told, what: str, figure: Figure) -> None:
    value = figure.share if what == "rate" else figure.value
    if what == "rate" and value > 1.5:
        value = value / 100
    if what == "k":
        told.k = told.k or length_of(value)
    elif what == "rate" and value > 1:
        return
    elif getattr(told, what) is None:
        setattr(told, what, value)


def _more(told: Told, also: Told) -> None:
    for field in ("length", "rate", "k", "accepted", "drafted", "speed", "per_token"):
        if getattr(told, field) is None:
            setattr(told, field, getattr(also, field))


def _cells(line: str) -> Cells:
    bare = line.strip()
    if bare.count("|") < 2 and not bare.startswith("|"):
        return []
    return [cell.strip().strip("*` ") for cell in bare.strip("|").split("|")][:40]


_COLUMNS = (
    ("speed", re.compile(r"(?:tok|t|tk|tokens?|toks)\W{0,3}(?:/|per) ?s|tps|speed(?!-?up)|tokens_per_second", re.I)),
    ("per_token", re.compile(r"ms\W{0,3}(?:/|per) ?tok|tpot", re.I)),
    (
        "length",
        re.compile(r"acc\w{0,9}[ _-]len|tokens?\W{0,2}(?:/|per) ?(?:pass|step|forward)|emitted per", re.I),
    ),
    ("rate", re.compile(r"accept|draft rate|\brate\b", re.I)),
    (
        "k",
        re.compile(r"^(?:k|gamma|n|draft)$|n[_-]max|draft.?(?:max|len|tokens)|num_spec|spec\w* tok|num[_-]steps", re.I),
    ),
)


def _column(cell: str) -> str | None:
    return next((what for what, form in _COLUMNS if form.search(cell[:80])), None)


def _row(cells: Cells, head: Mapping[int, str]) -> Told | None:
    told = Told(kind="table")
    for at, what in head.items():
        found = figures(cells[at]) if at < len(cells) else []
        if found:
            _put(told, what, found[0])
        elif what == "k" and at < len(cells) and is_plain(cells[at]):
            told.plain = True
    told.label = " ".join(cell for at, cell in enumerate(cells) if at not in head)[:LONGEST].strip()
    if not told.speed and not told.per_token:
        return None
    if not told.label:
        told.label = next((cells[at] for at, what in head.items() if what == "k" and at < len(cells)), "")
    if not told.speaks and told.k is None:
        told.plain = told.plain or is_plain(told.label)
        told.speculated = not told.plain and is_drafted(told.label)
        return told if told.plain or told.speculated else None
    if told.k is not None and not told.speaks:
        told.speculated = True
    told.plain = False
    return told
