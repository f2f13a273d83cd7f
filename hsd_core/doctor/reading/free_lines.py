"""What people write about their runs: lines with a speed or an acceptance, in the terms of any engine.

Read if no form of an engine was found, and in addition to a log without times.
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
    mentions_drafts,
)
from hsd_core.doctor.reading.printed import Printed
from hsd_core.doctor.reading.table_rows import put

_NAMES = called(  # underscores in a name count as blanks
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
# words before a speed: of reading a prompt or of everything, or of writing
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
SHOWN = 48  # characters of a line that name its run


def read_free_lines(lines: Sequence[tuple[int, str]], *, drafts: bool = False) -> list[Printed]:
    """A line with a speed or an acceptance is a run; its text or its heading says of what kind.

    A speed without such a word is plain decoding only if the text nowhere mentions drafts. `drafts`: whether other
    lines of the text do.
    """
    found: list[Printed] = []
    neutral: list[Printed] = []
    leads: dict[int, str] = {}  # the beginning of each line
    label, last, above, with_above, unit = "", None, "", [], ""
    for number, line in islice(_clauses(lines), MOST_LINES):
        printed = None if _OF_DRAFTER.search(line) else _line(line, _with_unit(figures(line), unit))
        if printed is None:
            head_unit = _UNIT_HEAD.search(line[-60:])
            unit = head_unit[1] if head_unit else unit if line.strip() else ""
            if (head := heading(line)) is not None:
                label, last = head, None
            elif 0 < len(line.strip()) <= SHOWN:
                above = line.strip(" #*:")
            continue
        line_label = _line_label(line)
        printed.line = number
        counts = not any(
            (printed.speed, printed.per_token, printed.length, printed.rate, printed.pass_ms, printed.round_ms)
        )
        rest = (
            not line_label
            or counts
            or (last is not None and last.speculated and not last.mentions_drafts and not _timed(printed))
        )
        if last is not None and rest and last.line + 4 > number and not (_timed(printed) and _timed(last)):
            _more(last, printed)  # the rest of the run before
            continue
        if line_label and line.lstrip().startswith("#"):
            label = line_label
        name = line_label or label
        printed.label = _shown(name)
        length = length_in(name) if length_in(name) is not None else length_in(line)
        printed.k = printed.k or length or None
        printed.plain = not printed.mentions_drafts and (
            length == 0 or is_plain(name) or (is_command(name) and not is_drafted(name))
        )
        printed.speculated = not printed.mentions_drafts and not printed.plain and (is_drafted(name) or bool(printed.k))
        (found if printed.mentions_drafts or printed.plain or printed.speculated else neutral).append(printed)
        with_above.append((printed, above))
        leads[number] = re.split(r"[\d:|=]", line, maxsplit=1)[0].strip(" -*>\t")[:SHOWN]
        last = printed
    _tell_apart(with_above)
    found += [printed for printed in neutral if printed.mentions_drafts]
    found = [printed for printed in found if not printed.mentions_drafts or _known_share(printed)]
    neutral = [printed for printed in neutral if not printed.mentions_drafts]
    spoken = drafts or any(mentions_drafts(line) for _, line in lines)
    if spoken and found and all(printed.plain for printed in found):  # "95 with this, 60 without"
        lines_of = [printed.line for printed, _ in with_above if printed.plain]
        for printed in [printed for printed in neutral if printed.line not in lines_of or len(neutral) == 1]:
            printed.speculated, printed.label = True, printed.label or leads[printed.line]
            neutral.remove(printed)
            found.append(printed)
    for printed in found:
        if printed.accepted is not None and printed.drafted is None and (printed.tokens or 0.0) > printed.accepted:
            printed.passes = (printed.tokens or 0.0) - printed.accepted
    for printed in neutral:  # "7b" next to "spec 7b"
        if printed.label and any(_without(one.label) == set(printed.label.lower().split()) for one in found):
            printed.plain = True
            found.append(printed)
    if not any(one.mentions_drafts or one.speculated for one in found):
        for printed in neutral:
            printed.plain = not spoken
            printed.notes += ["unclear"] if spoken else []
            found.append(printed)
    return found


def _known_share(printed: Printed) -> bool:
    """Whether an acceptance is known, not only the number of drafts."""
    if printed.accepted is not None:
        return any((printed.drafted, printed.tokens, printed.length, printed.speed, printed.per_token))
    return printed.length is not None or printed.rate is not None or bool(printed.positions)


def _without(label: str) -> set[str]:
    """The words of a drafting run's name, without those that say that it drafts."""
    return {word for word in label.lower().split() if not is_drafted(word)} if is_drafted(label) else set()


def _tell_apart(with_above: Sequence[tuple[Printed, str]]) -> None:
    """Adds the line above, such as "tp = 4", to the names of runs that would have the same name."""
    under: dict[str, set[str]] = {}
    for printed, above in with_above:
        under.setdefault(printed.label, set()).add(above)
    for printed, above in with_above:
        if len(under[printed.label]) > 1 and above and printed.label:
            printed.label = f"{above}: {printed.label}"[:LONGEST]


def _clauses(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines; one with several speeds is divided between them."""
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


def _line_label(line: str) -> str:
    """The part of a line that names its run: its beginning up to a colon, or all of it."""
    lead, colon, _ = line.partition(":")
    for part in (lead if colon and len(lead) < 60 else "", line[:LONGEST]):
        bare = part.strip(" -*#>,.;\t")
        if is_plain(bare) or is_drafted(bare) or length_in(bare) is not None:
            return bare
    return ""


def _shown(words: str) -> str:
    return words if len(words) <= SHOWN else f"{words[:SHOWN].rsplit(' ', 1)[0]} ..."


def _timed(printed: Printed) -> bool:
    return printed.speed is not None or printed.per_token is not None


def _line(line: str, found: Sequence[Figure]) -> Printed | None:
    printed = Printed(kind="words")
    rejected = None
    before = 0
    for figure in _single(found):
        what = _meant(figure)
        if what in ("per_token", "pass_ms", "draft_ms"):
            what = _whose(what, figure, line[before : figure.at])
        before = figure.at
        if what is None or (what == "tokens" and printed.tokens is not None):
            if what is None and printed.accepted is not None and figure.unit.startswith("draft tokens"):
                printed.drafted = printed.drafted if printed.drafted is not None else figure.value
        elif what == "rejected":
            rejected = figure.value
        elif what == "rate" and figure.value > 1.5 and not figure.percent and "rate" not in figure.name:
            continue  # "acceptance was 3" is no share
        elif what == "seconds":
            printed.ms = 1e3 * figure.value
        elif what == "speed" and (not _written(line, figure) or printed.speed is not None):
            continue
        else:
            put(printed, what, figure)
            if what == "speed" and re.search(r"req(?:uest)?s?/s", line):
                printed.notes.append("of_all_requests")
    if printed.accepted is not None and rejected is not None and printed.drafted is None:
        printed.drafted = printed.accepted + rejected
    if printed.length is not None and printed.length < 1:
        printed.length = None
    printed.tokens = printed.tokens if printed.speed or printed.ms or printed.accepted is not None else None
    if printed.ms and printed.tokens and not printed.speed:
        printed.speed = 1e3 * printed.tokens / printed.ms
    printed.ms = None
    useful = (printed.speed, printed.per_token, printed.length, printed.rate, printed.pass_ms, printed.round_ms)
    return printed if any(useful) or printed.accepted is not None or printed.drafted else None


def _with_unit(found: list[Figure], unit: str) -> list[Figure]:
    """The figures of a line; a last one without a unit gets the unit of the heading."""
    if unit and found and not found[-1].unit and not found[-1].percent:
        found[-1].name, found[-1].unit = "", unit
    return found


def _single(found: Sequence[Figure]) -> Iterator[Figure]:
    """The values of a list as single figures: in prose, "k = 4, 25 ms a pass" is not a list."""
    for figure in found:
        *others, last = figure.values
        for position, value in enumerate(others):
            yield Figure("" if position else figure.name, [value], figure.at, figure.at)
        yield Figure("" if others else figure.name, [last], figure.end, figure.end, figure.unit, figure.percent)


def _meant(figure: Figure) -> str | None:
    """The field of a figure, by its name and, for times and speeds, by a matching unit."""
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
    """Whether ms are per token of the text, per drafted token, or per pass of the target."""
    around = f"{before} {figure.unit}"
    if what == "draft_ms" or _ABOUT_DRAFTER.search(around):
        return "draft_ms"
    if what == "pass_ms" or (_ABOUT_PASS.search(around) and "token" not in figure.unit):
        return "pass_ms"
    return what


def _written(line: str, figure: Figure) -> bool:
    """Whether a speed is that of generating tokens: the nearest word before it decides."""
    if figure.unit.startswith("output"):
        return True
    writing = [word["reading"] is None for word in _WORK.finditer(line, 0, figure.at)]
    return not writing or writing[-1]


def _more(printed: Printed, also: Printed) -> None:
    for field in (*_MORE, "pass_ms", "draft_ms", "round_ms", "tokens"):
        if getattr(printed, field) is None:
            setattr(printed, field, getattr(also, field))
