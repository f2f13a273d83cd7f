"""What people write of their runs themselves, in lines of speed and acceptance, in any engine's words.

Asked where no form of an engine's own was found, and beside a log that tells no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from hsd_core.doctor.reading.figures import Figure, figures
from hsd_core.doctor.reading.forms import called, known
from hsd_core.doctor.reading.headings import (
    LONGEST,
    heading,
    is_command,
    is_drafted,
    is_plain,
    length_in,
    speaks_of_drafts,
)
from hsd_core.doctor.reading.printed import Printed
from hsd_core.doctor.reading.table_rows import put

_NAMES = called(  # a name with underscores is one with blanks
    length="acceptance length|accept length|accept len|accpt len|acceptance len|accepted length|acc len"
    "|mean accepted len|tokens per step|tau|tokens per pass|tokens/pass|tokens per forward|tokens/forward|接受长度|al",
    rate="acceptance rate|accept rate|acceptance|draft rate|accept|接受率|akzeptanz|akzeptanzrate",
    speed="tok/s|t/s|tps|tokens/s|token/s|tok/sec|tokens/sec|tokens per second|speed|throughput|generate|eval rate",
    per_token="ms per token|ms/token|ms/tok|tpot|tpot ms|time per token|time per output token|time per output token ms",
    k="num speculative tokens|draft length|draft-max|n-max|draft-n-max|k|n max|spec-draft-n-max|num draft tokens"
    "|speculative-num-steps|num steps|gamma",
    accepted="accepted|accepted tokens|draft tokens accepted|accepted draft tokens|from draft",
    round_ms="host step time|step time|time per step|iteration latency|iterlatencyms",
    running="batch size|concurrency",
    drafted="drafted|proposed|draft tokens|drafted tokens|draft tokens proposed|proposed tokens",
    seconds="tokens in",
)
_UNITS = {
    "speed": ("tok/s", "token/s", "t/s", "tokens/s", "toks/s", "tokens-per-sec", "tps", "tokens per second")
    + ("output tokens/s", "output tok/s", "tok per s", "token per s"),
    "pass_ms": tuple(
        f"ms {per} {what}" for per in ("per", "a", "each") for what in ("target", "pass", "forward", "verif")
    )
    + ("ms/pass", "ms/forward"),
    "draft_ms": tuple(f"ms {per} draft" for per in ("per", "a", "each")) + ("ms/draft",),
    "per_token": ("ms per token", "ms a token", "ms/token", "ms/tok", "ms per output token"),
    "length": tuple(f"tokens{per}{what}" for per in ("/", " per ") for what in ("forward", "pass", "step", "round")),
    "accepted": ("accepted",),
    "rejected": ("rejected",),
    "drafted": ("generated", "drafted", "draft tokens", "proposed"),
    "tokens": ("tokens generated in", "tokens"),
}
# words before a speed: of reading a prompt, or of everything, or of writing
_READING = r"prompt(?:[ _-]eval\w*)?|prefill|process|input|encod|\bpp\b|load|\btotal\b"
_WRITING = r"generat|decod|output|\beval|\btg\b|predict|speed|with"
_WORK = re.compile(f"(?P<reading>{_READING})|{_WRITING}", re.IGNORECASE)
_OF_DRAFTER = re.compile(
    r"\b(?:draft\w*|assistant|small\w*)(?: model)?\W+(?:alone|only|itself|by itself)\b", re.IGNORECASE
)
_ABOUT_DRAFTER = re.compile(r"\b(?:draft(?:er|ing)?|assistant|proposer)\b", re.IGNORECASE)
_ABOUT_PASS = re.compile(r"\b(?:target|verif\w+|main model|big model|forward|pass)\b", re.IGNORECASE)
_FILLING = frozenset(
    ("is", "was", "of", "about", "around", "are", "only", "at", "just", "roughly", "to", "p50", "median")
)
_SENTENCE = re.compile(r"[.!?;]\s")
_BETWEEN = re.compile(r"\b(?:and|but|vs|versus|against|while|than|to|instead)\b|[;→]|,(?!\d)")
_UNIT_HEAD = re.compile(
    r"(?<![\d.] )(?<![\w.])(tok(?:en)?s?/s|t/s|ms/tok(?:en)?|ms per token)(?:ec)?\W*$", re.IGNORECASE
)
_MORE = ("length", "rate", "k", "accepted", "drafted", "speed", "per_token")
MOST_LINES = 5_000
SHOWN = 48  # characters of a line that stand for its run


def read_free_lines(lines: Sequence[tuple[int, str]], *, drafts: bool = False) -> list[Printed]:
    """A line that tells a speed or an acceptance is a run; its own words, or its heading, say which.

    A speed of which nothing is said is plain decoding only where the whole text speaks of no drafts. `drafts`: whether
    other lines of it do.
    """
    found: list[Printed] = []
    neutral: list[Printed] = []
    leads: dict[int, str] = {}  # what a line begins with
    label, last, aside, asides, unit = "", None, "", [], ""
    for number, line in islice(_clauses(lines), MOST_LINES):
        told = None if _OF_DRAFTER.search(line) else _line(line, _with_unit(figures(line), unit))
        if told is None:
            head_unit = _UNIT_HEAD.search(line[-60:])
            unit = head_unit[1] if head_unit else unit if line.strip() else ""
            if (head := heading(line)) is not None:
                label, last = head, None
            elif 0 < len(line.strip()) <= SHOWN:
                aside = line.strip(" #*:")
            continue
        own = _own(line)
        told.line = number
        counts = not any((told.speed, told.per_token, told.length, told.rate, told.pass_ms, told.round_ms))
        rest = not own or counts or (last is not None and last.speculated and not last.speaks and not _timed(told))
        if last is not None and rest and last.line + 4 > number and not (_timed(told) and _timed(last)):
            _more(last, told)  # the rest of the run before
            continue
        if own and line.lstrip().startswith("#"):
            label = own
        whole = own or label
        told.label = _shown(whole)
        length = length_in(whole) if length_in(whole) is not None else length_in(line)
        told.k = told.k or length or None
        told.plain = not told.speaks and (
            length == 0 or is_plain(whole) or (is_command(whole) and not is_drafted(whole))
        )
        told.speculated = not told.speaks and not told.plain and (is_drafted(whole) or bool(told.k))
        (found if told.speaks or told.plain or told.speculated else neutral).append(told)
        asides.append((told, aside))
        leads[number] = re.split(r"[\d:|=]", line, maxsplit=1)[0].strip(" -*>\t")[:SHOWN]
        last = told
    _apart(asides)
    found += [told for told in neutral if told.speaks]
    found = [told for told in found if not told.speaks or _known_share(told)]
    neutral = [told for told in neutral if not told.speaks]
    spoken = drafts or any(speaks_of_drafts(line) for _, line in lines)
    if spoken and found and all(told.plain for told in found):  # "95 with this, 60 without"
        lines_of = [told.line for told, _ in asides if told.plain]
        for told in [told for told in neutral if told.line not in lines_of or len(neutral) == 1]:
            told.speculated, told.label = True, told.label or leads[told.line]
            neutral.remove(told)
            found.append(told)
    for told in found:
        if told.accepted is not None and told.drafted is None and (told.tokens or 0.0) > told.accepted:
            told.passes = (told.tokens or 0.0) - told.accepted
    for told in neutral:  # "7b" beside "spec 7b"
        if told.label and any(_without(one.label) == set(told.label.lower().split()) for one in found):
            told.plain = True
            found.append(told)
    if not any(one.speaks or one.speculated for one in found):
        for told in neutral:
            told.plain = not spoken
            told.notes += ["unsaid"] if spoken else []
            found.append(told)
    return found


def _known_share(told: Printed) -> bool:
    """Whether more is told of the drafts than how many there were."""
    if told.accepted is not None:
        return any((told.drafted, told.tokens, told.length, told.speed, told.per_token))
    return told.length is not None or told.rate is not None or bool(told.places)


def _without(label: str) -> set[str]:
    """The words of a drafting run's name but those that say that it drafts."""
    return {word for word in label.lower().split() if not is_drafted(word)} if is_drafted(label) else set()


def _apart(asides: Sequence[tuple[Printed, str]]) -> None:
    """Runs of one name under different lines, such as "tp = 4", are told apart by these."""
    under: dict[str, set[str]] = {}
    for told, aside in asides:
        under.setdefault(told.label, set()).add(aside)
    for told, aside in asides:
        if len(under[told.label]) > 1 and aside and told.label:
            told.label = f"{aside}: {told.label}"[:LONGEST]


def _clauses(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines, those with several speeds divided between them."""
    for number, line in lines:
        if len(line) > 2_000 or line.count("|") > 2 or not any(sign.isdigit() for sign in line):
            if len(line) <= 2_000:
                yield number, line
            continue
        speeds = [one.end for one in figures(line) if one.unit.startswith(_UNITS["speed"]) and _written(line, one)]
        start = 0
        for before, after in pairwise(speeds):
            between = _SENTENCE.search(line, before, after) or _BETWEEN.search(line, before, after)
            cut = between.start() if between else after
            yield number, line[start:cut]
            start = cut
        yield number, line[start:]


def _own(line: str) -> str:
    """What a line says of its own run: its beginning, as far as a colon, or all of it."""
    lead, colon, _ = line.partition(":")
    for part in (lead if colon and len(lead) < 60 else "", line[:LONGEST]):
        bare = part.strip(" -*#>,.;\t")
        if is_plain(bare) or is_drafted(bare) or length_in(bare) is not None:
            return bare
    return ""


def _shown(words: str) -> str:
    return words if len(words) <= SHOWN else f"{words[:SHOWN].rsplit(' ', 1)[0]} ..."


def _timed(told: Printed) -> bool:
    return told.speed is not None or told.per_token is not None


def _line(line: str, found: Sequence[Figure]) -> Printed | None:
    told = Printed(kind="words")
    rejected = None
    before = 0
    for figure in _single(found):
        what = _meant(figure)
        if what in ("per_token", "pass_ms", "draft_ms"):
            what = _whose(what, figure, line[before : figure.at])
        before = figure.at
        if what is None or (what == "tokens" and told.tokens is not None):
            if what is None and told.accepted is not None and figure.unit.startswith("draft tokens"):
                told.drafted = told.drafted if told.drafted is not None else figure.value
        elif what == "rejected":
            rejected = figure.value
        elif what == "rate" and figure.value > 1.5 and not figure.percent and "rate" not in figure.name:
            continue  # "acceptance was 3" is no share
        elif what == "seconds":
            told.ms = 1e3 * figure.value
        elif what == "speed" and (not _written(line, figure) or told.speed is not None):
            continue
        else:
            put(told, what, figure)
            if what == "speed" and re.search(r"req(?:uest)?s?/s", line):
                told.notes.append("of_all_requests")
    if told.accepted is not None and rejected is not None and told.drafted is None:
        told.drafted = told.accepted + rejected
    if told.length is not None and told.length < 1:
        told.length = None
    told.tokens = told.tokens if told.speed or told.ms or told.accepted is not None else None
    if told.ms and told.tokens and not told.speed:
        told.speed = 1e3 * told.tokens / told.ms
    told.ms = None
    useful = (told.speed, told.per_token, told.length, told.rate, told.pass_ms, told.round_ms)
    return told if any(useful) or told.accepted is not None or told.drafted else None


def _with_unit(found: list[Figure], unit: str) -> list[Figure]:
    """The figures of a line under a heading that has their unit: its last one is of that unit, if it has none."""
    if unit and found and not found[-1].unit and not found[-1].percent:
        found[-1].name, found[-1].unit = "", unit
    return found


def _single(found: Sequence[Figure]) -> Iterator[Figure]:
    """Figures of one value: in words, "k = 4, 25 ms a pass" is no list."""
    for figure in found:
        *others, last = figure.values
        for place, value in enumerate(others):
            yield Figure("" if place else figure.name, [value], figure.at, figure.at)
        yield Figure("" if others else figure.name, [last], figure.end, figure.end, figure.unit, figure.percent)


def _meant(figure: Figure) -> str | None:
    """What a figure is, by its name and, for times and speeds, by a unit that agrees."""
    words = figure.name.split()
    while words and words[-1] in _FILLING:
        words.pop()
    what = known(_NAMES, " ".join(words).replace("_", " ").split())
    of_unit = next((what for what, units in _UNITS.items() if figure.unit.startswith(units)), None)
    if what == "speed" and figure.unit and not any(f" {unit}" in f" {figure.unit}" for unit in _UNITS["speed"]):
        what = None  # "Generate: 5.0 s", "Throughput: 3 requests/s"
    in_seconds = figure.unit.startswith(("s ", "sec")) or figure.unit == "s"
    if (what == "per_token" and (in_seconds or figure.unit.startswith("tok"))) or (
        what == "seconds" and not in_seconds
    ):
        return None
    if what is None and of_unit is None and figure.percent and "accept" in figure.name + figure.unit:
        return "rate"
    if what is None and figure.unit.split(" ")[0] == "ms" and ("pass" in words or "forward" in words):
        return "pass_ms"
    return what or of_unit


def _whose(what: str, figure: Figure, before: str) -> str | None:
    """Whether ms are of a token of the text, of a token of the drafter's, or of a pass of the target."""
    around = f"{before} {figure.unit}"
    if what == "draft_ms" or _ABOUT_DRAFTER.search(around):
        return "draft_ms"
    if what == "pass_ms" or (_ABOUT_PASS.search(around) and "token" not in figure.unit):
        return "pass_ms"
    return what


def _written(line: str, figure: Figure) -> bool:
    """Whether a speed is of writing tokens: the nearest word before it decides."""
    if figure.unit.startswith("output"):
        return True
    said = [word["reading"] is None for word in _WORK.finditer(line, 0, figure.at)]
    return not said or said[-1]


def _more(told: Printed, also: Printed) -> None:
    for field in (*_MORE, "pass_ms", "draft_ms", "round_ms", "tokens"):
        if getattr(told, field) is None:
            setattr(told, field, getattr(also, field))
