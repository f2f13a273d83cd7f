"""Tables of runs: rows under a header with a speed, a time or an acceptance, whatever separates the columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise

from hsd_core.doctor.reading.counts import MOST_POSITIONS, length_of
from hsd_core.doctor.reading.figures import Figure, figures
from hsd_core.doctor.reading.headings import LONGEST, is_drafted, is_log_line, is_plain, length_in, stops_early
from hsd_core.doctor.reading.printed import Printed

MOST_COLUMNS = 40
MOST_HEAD = 300  # characters of a header without bars
CAPTION = 6  # lines above a table that may name its unit
_DIVIDERS = ("|", "\t", ";", ",", "  ", " ")
_SPEED = re.compile(
    r"(?:tok|t|tk|tokens?|toks)\W{0,3}(?:/|per[ _-]?|_per_) ?s|\btok_s\b|tps\b|speed(?!-?_?up)|throughput",
    re.IGNORECASE,
)
_OTHER_SPEED = re.compile(r"prompt|prefill|input|\bpp\b|pp\d|total|req(?:uest)?s?\W{0,3}(?:/|per)|ttft", re.IGNORECASE)
_COLUMNS = (
    ("per_token", re.compile(r"ms\W{0,3}(?:/|per) ?tok|tpot|time per (?:output )?token", re.I)),
    (
        "length",
        re.compile(
            r"acc\w{0,9}[ _-]len|tokens?\W{0,2}(?:/|per) ?(?:pass|step|forward|round)|emitted per|\bM?AL\b|\btau\b",
            re.I,
        ),
    ),
    ("rate", re.compile(r"accept|draft rate|\brate\b|akzeptanz", re.I)),
    (
        "k",
        re.compile(r"^(?:k|gamma|n|draft)$|n[_-]max|draft.?(?:max|len|tokens)|num_spec|spec\w* tok|num[_-]steps", re.I),
    ),
    ("running", re.compile(r"^#?(?:batch[ _]?size|bs|concurrency|conc|parallel|running|users?|clients)$", re.I)),
)
_PLACE = re.compile(r"(?:p|pos|position|place|token)[ _#@]*(\d{1,2})", re.IGNORECASE)
_PLACES = re.compile(r"(?:pos|position|place|depth|draft token)(?: index)?", re.IGNORECASE)
_TEST = re.compile(r"(?P<plain>tg ?\d+)?(?:(?:pp|pg) ?\d.*| ?@ ?d\d+)?")  # llama-bench, which drafts nothing
_BARE = re.compile(r"[~±+-]?[\d.,]+ ?(?:x|×|s|ms|%|gi?b|mi?b|t/s)?", re.IGNORECASE)
_MODEL = re.compile(r"\d[bm]\b", re.IGNORECASE)  # a drafter's name in a column that could be a length
_DIGIT = re.compile(r"(?<![\w.-])\d")  # a separate number, unlike that in "eagle3"
_EACH = re.compile(r"/ ?user|per user", re.IGNORECASE)  # a speed per request
_NONE = ("", "-", "–", "—", "n/a", "N/A")
_HEADS = re.compile(
    "|".join(form.pattern for form in (_SPEED, _COLUMNS[0][1], _COLUMNS[1][1])) + r"|accept|baseline|without|\bp1\b",
    re.I,
)
Head = dict[int, str]


def read_tables(lines: Sequence[tuple[int, str]]) -> Iterator[Printed]:
    """The rows of all tables. A column for plain decoding next to one with drafts gives two runs per row."""
    head: Head = {}
    names: list[str] = []
    divider = ""
    listed: list[Printed] = []  # at most one, whose positions have a row each
    for row, (number, line) in enumerate(lines):
        cells = _cells(line, divider) if divider else []
        if head and len(cells) != len(names) and not (divider == "|" and len(cells) > 1):
            head, divider = {}, ""
        if not head or not any(any(sign.isdigit() for sign in cell) for cell in cells):
            if (not head or divider == "|") and (found := _head(line, lines[max(0, row - CAPTION) : row])):
                yield from _ended(listed)
                divider, names, head = found
            continue
        if "positions" in head.values():
            _listed(listed, cells, head, number)
            continue
        for printed in _rows(cells, head, names):
            printed.line = number
            yield printed
    yield from _ended(listed)


def _head(line: str, above: Sequence[tuple[int, str]]) -> tuple[str, list[str], Head] | None:
    """The divider, the names and the fields of the columns; None for a line that is not the header of runs.

    If the lines above name a unit of speed, columns for runs with and without drafts have that unit.
    """
    if len(line) > 2_000 or is_log_line(line) or not _HEADS.search(line):
        return None
    if "|" not in line and _DIGIT.search(_PLACE.sub("", line[:MOST_HEAD]) + line[MOST_HEAD:]):
        return None
    captioned = None
    for divider in _DIVIDERS:
        names = _cells(line, divider)
        if not 2 <= len(names) <= (8 if divider == " " else MOST_COLUMNS) or any(len(name) > 60 for name in names):
            continue
        head = {at: what for at, name in enumerate(names) if (what := _column(name)) is not None}
        if captioned is None:
            captioned = any(_SPEED.search(caption[:500]) for _, caption in above)
        if captioned and not set(head.values()) & {"speed", "per_token", "plain_per_token"}:
            head |= {at: "plain_speed" for at, name in enumerate(names) if at not in head and is_plain(name)}
            with_drafts = (at for at, name in enumerate(names) if at not in head and _with(name))
            head |= dict.fromkeys(islice(with_drafts, 1), "speed") if "plain_speed" in head.values() else {}
        columns = set(head.values())
        timed = bool(columns & {"speed", "per_token", "plain_speed", "plain_per_token"})
        if divider == " " and (not timed or len(head) < 2):
            continue
        if (divider != "|" or not timed) and any(_DIGIT.search(name) and not _PLACE.fullmatch(name) for name in names):
            continue
        if divider in ";, " and len(names) < 3 and "positions" not in columns:
            continue
        if (
            timed
            or "length" in columns
            or "position 1" in columns
            or {"positions", "rate"} <= columns
            or {"k", "rate"} <= columns
        ):
            return divider, names, head
    return None


def _with(name: str) -> bool:
    return is_drafted(name) or name.lower().startswith("with ")


def _column(name: str) -> str | None:
    spoken = name[:80].replace("_", " ")
    if re.search(r"speed.?up|\bgain\b|vs\.? ", spoken, re.IGNORECASE):
        return None
    if spoken.lower() == "test":
        return "test"
    if position := _PLACE.fullmatch(spoken):
        return f"position {position[1]}"
    if _PLACES.fullmatch(spoken):
        return "positions"
    for what, form in _COLUMNS:
        if form.search(name[:80]):
            return f"plain_{what}" if what == "per_token" and is_plain(spoken) else what
    if _SPEED.search(name[:80]) and not _OTHER_SPEED.search(spoken):
        return "plain_speed" if is_plain(spoken) else "speed"
    return None


def _cells(line: str, divider: str) -> list[str]:
    bare = line.strip() if divider != "\t" else line.strip("\r\n ")
    if divider == "|":
        if "|" not in bare:
            return []
        cells = bare.strip("|").split("|")
    elif divider == "  ":
        cells = re.split(r" {2,}|\t", bare)
    elif divider == " ":
        cells = bare.split()
    else:
        cells = bare.split(divider)
    return [cell.strip().strip("*` ") for cell in cells[:MOST_COLUMNS]]


def _rows(cells: Sequence[str], head: Head, names: Sequence[str]) -> Iterator[Printed]:
    each = any(what in ("speed", "plain_speed") and _EACH.search(names[at]) for at, what in head.items())
    printed = _row(cells, head, "", each)
    test = next((_TEST.fullmatch(cells[at]) for at, what in head.items() if what == "test" and at < len(cells)), None)
    if test is not None:  # llama-bench: reading a prompt, or generating
        printed.engine, printed.plain, printed.notes = "llama.cpp", True, ["llama_bench"]
        if test["plain"]:
            yield printed
        return
    plain = _row(cells, head, "plain_", each)
    if plain is not None and (plain.speed or plain.per_token):
        words = next(names[at] for at, what in head.items() if what.startswith("plain_"))
        others = [names[at] for at, what in head.items() if what in ("speed", "per_token")]
        baseline = Printed(kind="table", label=f"{plain.label} {words}".strip()[:LONGEST], plain=True)
        baseline.speed, baseline.per_token, baseline.running = plain.speed, plain.per_token, plain.running
        yield baseline
        if others:
            printed.label, printed.plain = f"{printed.label} {others[0]}".strip()[:LONGEST], False
            printed.speculated = not printed.mentions_drafts
    if not (printed.speed or printed.per_token or printed.mentions_drafts):
        return
    if not printed.mentions_drafts and printed.k is None and not printed.plain and not printed.speculated:
        printed.plain = is_plain(printed.label)
        printed.speculated = not printed.plain and is_drafted(printed.label)
        if not printed.plain and not printed.speculated:
            return
    elif printed.mentions_drafts:
        printed.plain = False
    elif printed.k is not None:
        printed.speculated, printed.plain = True, False
    yield printed


def _row(cells: Sequence[str], head: Head, prefix: str, each: bool) -> Printed:
    """A row, its time from the columns with the prefix; each: its speed is per request."""
    printed = Printed(kind="table")
    for at, what in head.items():
        cell = cells[at] if at < len(cells) else ""
        found = figures(cell)
        bare = what.removeprefix("plain_")
        if bare in ("speed", "per_token"):
            if what == prefix + bare and found:
                put(printed, bare, found[0])
        elif found and what.startswith("position "):
            printed.positions.append(share(found[0]))
        elif found and what != "test" and not (what == "k" and _MODEL.search(cell)):
            if what == "k" and found[0].value == 0:
                printed.plain = True
            put(printed, what, found[0])
        elif what == "k" and (cell in _NONE or is_plain(cell)):
            printed.plain = True
    printed.label = " ".join(
        cell
        for at, cell in enumerate(cells)
        if (at not in head and not _BARE.fullmatch(cell)) or (head.get(at) == "k" and _MODEL.search(cell))
    ).strip()[:LONGEST]
    if not printed.label:
        printed.label = next((cells[at] for at, what in head.items() if what == "k" and at < len(cells)), "")
    printed.positions = of_all(printed)
    if each and printed.speed:
        printed.per_token, printed.speed = printed.per_token or 1e3 / printed.speed, None
    if printed.running is not None:
        printed.label = f"{printed.label} {printed.running:g} at once".strip()
    printed.k = printed.k or length_in(printed.label)
    if stops_early(printed.label):
        printed.notes.append("stops_early")
    return printed


def _listed(listed: list[Printed], cells: Sequence[str], head: Head, number: int) -> None:
    """Adds a position that has a row of its own to those before it, unless it is the first position again."""
    at = {what: found[0] for at, what in head.items() if at < len(cells) and (found := figures(cells[at]))}
    if "positions" not in at or "rate" not in at:
        return
    if not listed or at["positions"].value in (0, len(listed[-1].positions) == 0):
        listed.append(Printed(kind="table", line=number))
    if len(listed[-1].positions) < MOST_POSITIONS:
        listed[-1].positions.append(share(at["rate"]))


def _ended(listed: list[Printed]) -> Iterator[Printed]:
    for printed in listed:
        printed.positions = of_all(printed)
        yield printed
    listed.clear()


def share(figure: Figure) -> float:
    """A share from 0 to 1; larger values are percent."""
    return figure.share / 100 if figure.share > 1 else figure.share


def of_all(printed: Printed) -> list[float]:
    """Shares of all drafts by position, as engines print them; if one rises, they were of those that reached it."""
    positions = printed.positions
    if not positions or any(position > 1 for position in positions):
        return []
    if all(after <= before for before, after in pairwise(positions)):
        printed.notes += ["of_all_drafts"] if printed.length is None and len(positions) > 1 else []
        return positions
    return [*accumulate(positions, lambda survived, position: survived * position)]


def put(printed: Printed, what: str, figure: Figure) -> None:
    """Sets the field of the figure, unless it is set already."""
    value = figure.share if what == "rate" else figure.value
    if what == "rate" and value > 1.5:
        value = value / 100
    if what == "k":
        printed.k = printed.k or length_of(value)
    elif what == "rate" and value > 1:
        return
    elif getattr(printed, what) is None:
        setattr(printed, what, value)
