"""The figures of a line by name and unit, whatever surrounds them, in one pass over its words.

`Mean acceptance length: 2.33`, `( 75 accepted / 375 generated)`, `"draft_n": 240`, `Position 0: 83.39`,
`#gen drafts = 50` and `0.700, 0.420` after a name are all read here, so that a form (`forms.py`) is a list of names.
Lines of a log mostly differ only in their numbers, so the line without them is parsed and the result is cached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

from hsd_core.doctor.reading.counts import number

_PIECE = re.compile(r"(\d(?:[\d.,]*\d)?(?:[eE][+-]?\d+)?|#?[^\W\d][\w/#-]*)")
_VALUE, _NO_VALUE = "\x00", "\x01"  # placeholders for the numbers of a line
_TOKEN = re.compile(r"(\x00+|\x01)|(#?[^\W\d][\w/#-]*)|(\S)")
_COMMA = re.compile(r"(?<![\d.,])(?:0,\d|\d+,\d\d?(?!\d))(?![\d,]*\.\d)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAPS = frozenset("|,;/•·{}→<>~@&")  # these end a name
_SKIPPED = frozenset("\"'`[]*.")
MOST_WORDS = 6  # of a name
MOST_VALUES = 256  # of a list
KEPT = 256  # lines without their numbers


@dataclass(slots=True)
class Figure:
    """name: the words before it, in lower case. unit: the words after it, or those in brackets after its name.

    values: more than one for a list. at, end: columns of the first and the last value. last: last word of the name.
    """

    name: str
    values: list[float]
    at: int
    end: int
    unit: str = ""
    percent: bool = False
    last: str = ""

    @property
    def value(self) -> float:
        return self.values[0]

    @property
    def share(self) -> float:
        """The first value, divided by 100 if it is in percent."""
        return self.value / 100 if self.percent else self.value


@dataclass(slots=True)
class _Shape:
    """A figure with the numbers `first` to `end` of a line as values; `at`, `till`: among its written numbers."""

    name: str
    first: int
    end: int
    at: int
    till: int
    unit: str
    percent: bool
    last: str = ""
    numbered: bool = False  # its name contains numbers too, by their index


@dataclass(slots=True)
class _Walk:
    """The state between two tokens."""

    found: list[_Shape] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    stash: list[str] | None = None  # the name before a bracket
    hint: str = ""
    percent: bool = False
    separated: bool = False  # a colon or an equals sign follows the name
    open: bool = False  # the last figure may still get a unit
    listed: bool = False  # the last figure may continue as a list
    minus: bool = False
    spread: bool = False  # the next number is the uncertainty of the last one
    inside: int = 0  # figures before the bracket


def figures(line: str) -> list[Figure]:
    """All figures of a line, in order."""
    if _VALUE in line or _NO_VALUE in line:
        line = line.replace(_VALUE, " ").replace(_NO_VALUE, " ")
    pieces = _PIECE.split(line)
    written = [position for position in range(1, len(pieces), 2) if pieces[position][0].isdecimal()]
    if not written:
        return []
    starts = [0, *accumulate(map(len, pieces))]
    at = [starts[position] for position in written]
    values: list[float] = []
    comma: bool | None = None
    for position in written:
        text = pieces[position]
        if "," in text:
            comma = _COMMA.search(line) is not None if comma is None else comma
            read = [value for part in _parts(text, comma) if (value := number(part)) is not None]
            values += read
            pieces[position] = _VALUE * len(read) or _NO_VALUE
        elif (value := number(text)) is not None:
            values.append(value)
            pieces[position] = _VALUE
        else:
            pieces[position] = _NO_VALUE
    found = []
    for shape in _walked("".join(pieces)):
        name, unit, last = shape.name, shape.unit, shape.last
        if shape.numbered:
            name, unit = _numbered(name, values), _numbered(unit, values)
            last = name.rpartition(" ")[2]
        found.append(
            Figure(name, values[shape.first : shape.end], at[shape.at], at[shape.till], unit, shape.percent, last)
        )
    return found


def _numbered(words: str, values: Sequence[float]) -> str:
    return " ".join(f"{values[int(word[1:])]:.0f}" if word[0] == _VALUE else word for word in words.split())


@lru_cache(maxsize=KEPT)
def _walked(line: str) -> tuple[_Shape, ...]:
    """The figures of a line whose numbers are replaced by placeholders."""
    walk = _Walk()
    read = written = 0
    for token in _TOKEN.finditer(line):
        if token[1]:
            many = token[1].count(_VALUE)
            _number(walk, read, many, written)
            read, written = read + many, written + 1
        elif token[2]:
            _word(walk, token[2])
        else:
            _mark(walk, token[3])
            walk.minus = walk.minus and line[token.end() : token.end() + 1] in (_VALUE, _NO_VALUE)
    for shape in walk.found:
        shape.last = shape.name.rpartition(" ")[2]
        shape.numbered = _VALUE in shape.name or _VALUE in shape.unit
    return tuple(walk.found)


def words_of(name: str) -> str:
    """A name in snake case: `acceptedDraftTokens` is `accepted_draft_tokens`."""
    return name if name.islower() else _HUMP.sub("_", name).lower()


def _number(walk: _Walk, first: int, many: int, at: int) -> None:
    minus, walk.minus = walk.minus, False
    if walk.spread:
        walk.spread = False
        return
    if not many or minus:
        walk.listed = walk.open = False
        walk.name, walk.separated = [], False
        return
    if walk.listed and not walk.name and first - walk.found[-1].first < MOST_VALUES:
        walk.found[-1].end, walk.found[-1].till = first + many, at
        walk.open = True
        return
    name = " ".join(walk.name[-MOST_WORDS:])
    end = first + min(many, MOST_VALUES)
    walk.found.append(_Shape(name, first, end, at, at, walk.hint, walk.percent and walk.separated))
    walk.name, walk.separated, walk.hint, walk.percent = [], False, "", False
    walk.open = walk.listed = True


def _word(walk: _Walk, text: str) -> None:
    word = words_of(text)
    walk.minus = False
    if walk.open and walk.found and walk.found[-1].unit.count(" ") < 3:
        unit = walk.found[-1].unit
        walk.found[-1].unit = f"{unit} {word}" if unit else word
    walk.listed = False
    if walk.separated:
        walk.name, walk.separated, walk.hint, walk.percent = [], False, "", False
    if not walk.name or walk.name[-1] != word:  # vLLM 0.5 writes "tokens tokens"
        walk.name.append(word)
    if len(walk.name) > 2 * MOST_WORDS:
        del walk.name[:MOST_WORDS]


def _mark(walk: _Walk, mark: str) -> None:
    walk.minus, walk.spread = mark in "-\u2212", mark == "±"
    if mark in ":=":
        if walk.open and not walk.name:  # "Position 0: 83", a number that belongs to a name
            last = walk.found.pop()
            walk.name = [*last.name.split(), f"{_VALUE}{last.first}"] if last.name else []
        walk.separated, walk.open, walk.listed = True, False, False
    elif mark == "%":
        if walk.open and not walk.name:
            walk.found[-1].percent = True
        else:
            walk.percent = True
    elif mark == "(":
        walk.open = False
        if not walk.separated:
            walk.stash, walk.name, walk.inside = walk.name, [], len(walk.found)
            walk.listed = False
    elif mark == ")":
        walk.open = walk.listed = False
        if walk.stash is not None:
            walk.hint = " ".join(walk.name) if len(walk.found) == walk.inside else ""
            walk.name, walk.stash = walk.stash, None
    elif mark in _GAPS:
        walk.open = False
        walk.listed = walk.listed and mark == "," and not walk.name
        if not (walk.separated and mark == "{"):
            walk.name, walk.separated = [], False
    elif mark not in _SKIPPED:
        walk.listed = False


def _parts(text: str, comma: bool) -> list[str]:
    """The numbers of a token: `10,072` is one, `0.70,0.42` two, `0,64` one."""
    pieces = text.split(",")
    if comma and len(pieces) == 2 and "." not in text:
        return [".".join(pieces)]
    grouped = all(len(piece.partition(".")[0]) == 3 and piece.isdigit() for piece in pieces[1:-1])
    if grouped and 1 <= len(pieces[0]) <= 3 and pieces[0].isdigit() and pieces[0] != "0":
        last = pieces[-1].partition(".")[0]
        if len(last) == 3 and last.isdigit():
            return ["".join(pieces)]
    return pieces
