"""Keys of levels, each with its type and range: `@key=value` in a stack, a control in the composer.

A key says once what it may be; the grammar here and the one of the page read the same, and refuse with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, ClassVar

from hsd_core.levels.kinds.spec import (
    MAX_BLOCK,
    MAX_COLUMNS,
    MAX_GUESS,
    MAX_NGRAM,
    MAX_NODES,
    LevelSpec,
    StackError,
    Value,
)
from hsd_core.levels.policies import DEFAULT_THETA
from hsd_core.models import DTYPES

MAX_DEPTH = 512  # layers; no model here comes near it
MAX_TOP = 64  # k of the rule top
LAST = 99  # place of a key that only one kind has
VERIFIER, DRAFTER, BOTTOM = "verifier", "drafter", "bottom"
_DEFAULTS = {f.name: f.default for f in fields(LevelSpec)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a level; this plain one takes any text: what it has to name is known where the level is built.

    Attributes:
        place: in the order in which keys are written.
        counts: what the level has to be for the key to count: "verifier" (not the bottom), "drafter" (not the last),
            "bottom" (the first of several).
        fans: its value says how many sequences a draft holds side by side (`sequences`).
        rides: its value says how much the level above computes beside a draft, in the same pass; 0 for nothing.
        when: another key, and the values of it with which this one counts; none for whatever it is set to.
        usual: what a level without the key has, where that is not the default of its field and its kind says nothing
            (`Kind.usual`). usuals: as written, what it has instead at a value of `when`'s key.
        label, tip, tips: the control in the composer, what it says, and what it says instead at a value of `when`'s
            key; without a tip there is no control.
    """

    type: ClassVar[str] = "text"
    name: str
    place: int = LAST
    counts: str = ""
    when: tuple[str, tuple[str, ...]] | None = None
    usual: Value | None = None
    usuals: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    fans: bool = False
    rides: bool = False
    tip: str = ""
    tips: Mapping[str, str] = field(default_factory=dict)

    @property
    def default(self) -> Value | None:
        found = _DEFAULTS.get(self.name)
        return found if isinstance(found, Value) else None

    @property
    def title(self) -> str:
        return self.name

    @property
    def cure(self) -> str:
        """What to write instead of a text that stands for no value."""
        return ""

    def parse(self, text: str) -> Value | None:
        """The value that a text stands for; None where it stands for none."""
        return text

    def read(self, text: str, level: str) -> Value:
        """The value that a text stands for at a level.

        Raises:
            StackError: it stands for none.
        """
        value = self.parse(text)
        if value is None:
            raise StackError(f"{level}: {self.title} is {text!r}; {self.cure}")
        return value

    def write(self, value: Value) -> str:
        return str(value)

    def sequences(self, value: Value) -> int:
        """How many sequences a draft holds side by side at a value, where the key says that."""
        return int(value)

    def as_dict(self) -> dict[str, Any]:
        """For the page, in plain JSON types."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in own.items()}
        usual = self.default if self.usual is None else self.usual
        said = {"type": self.type, "title": self.title, "cure": self.cure, "label": self.label or self.name}
        return {**plain, **said, "usual": None if usual is None else self.write(usual)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Key):
    """A whole number within a range, written in at most nine figures.

    beside: sequences of a draft beside those that it counts, where it says how many there are.
    """

    type = "whole"
    low: int
    high: int
    step: int = 1
    unit: str = ""
    beside: int = 0

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def cure(self) -> str:
        return f"use a whole number from {self.low} to {self.high}"

    def parse(self, text: str) -> Value | None:
        # The length first: int() refuses very long texts with an error of its own.
        good = text.isascii() and text.isdigit() and len(text) <= 9 and self.low <= int(text) <= self.high
        return int(text) if good else None

    def sequences(self, value: Value) -> int:
        return int(value) + self.beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Whole):
    """0 or 1."""

    type = "switch"
    low: int = 0
    high: int = 1

    def parse(self, text: str) -> Value | None:
        found = Whole.parse(self, text)
        return None if found is None else bool(found)

    def write(self, value: Value) -> str:
        return str(int(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Key):
    """A number from 0 to 1, such as a probability."""

    type = "share"
    low: float = 0.0
    high: float = 1.0
    step: float = 0.05

    @property
    def cure(self) -> str:
        return f"use a number from {self.low:g} to {self.high:g}, such as {self.usual}"

    def parse(self, text: str) -> Value | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if self.low <= value <= self.high else None

    def write(self, value: Value) -> str:
        """The shortest text that reads back as the same number."""
        short = f"{value:g}"
        return short if float(short) == value else repr(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Key):
    """One of some words. `words`: what the composer says of each, in its order."""

    type = "choice"
    choices: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def cure(self) -> str:
        return f"use one of {', '.join(self.choices)}"

    def parse(self, text: str) -> Value | None:
        return text if text in self.choices else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters(Key):
    """Some of the letters of an alphabet, each at most once, in the order in which they count."""

    type = "letters"
    alphabet: str

    @property
    def cure(self) -> str:
        most, last = self.alphabet[:-1], self.alphabet[-1]
        return f"use the letters {', '.join(most)} and {last}, each at most once, in order of lookup"

    def parse(self, text: str) -> Value | None:
        good = text and not set(text) - set(self.alphabet) and len(set(text)) == len(text)
        return text if good else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Key):
    """How many children a node of a tree has, by depth: whole numbers joined by dots.

    most: children of a node. nodes: of the whole tree. words: shapes that the composer offers.
    """

    type = "shape"
    most: int = 9
    nodes: int = MAX_NODES
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def cure(self) -> str:
        return (
            f"use the number of offers behind each token by depth, 1 to {self.most} each and {self.nodes} tokens in "
            "all at most, such as 2.2.1"
        )

    def parse(self, text: str) -> Value | None:
        parts = text.split(".")
        good = all(len(part) == 1 and part in "123456789"[: self.most] for part in parts)
        return text if good and sum(accumulate(map(int, parts), mul)) <= self.nodes else None

    def sequences(self, value: Value) -> int:
        return prod(int(part) for part in str(value).split("."))


BLOCK = Whole(name="block length", low=1, high=MAX_BLOCK)
AT = Whole(name="at", place=0, unit="layers", low=1, high=MAX_DEPTH)
# Which policies and rules there are, and which of them have a theta and a k, the registry adds (`kinds.keys`).
POLICY = Choice(name="policy", place=10, counts=DRAFTER, tip="when this level hands its block up")
THETA = Share(name="theta", place=20, counts=DRAFTER, usual=DEFAULT_THETA, label="θ", tip="the stop threshold")
RULE = Choice(name="rule", place=30, counts=VERIFIER, tip="how this level decides which drafted tokens to keep")
K = Whole(
    name="k",
    place=40,
    counts=VERIFIER,
    usual=1,
    low=1,
    high=MAX_TOP,
    tip="a drafted token is kept when it is among this level's k likeliest",
)
DTYPE = Choice(name="dtype", place=70, choices=DTYPES)
DEVICE = Key(name="device", place=80)
BONUS = Switch(name="bonus", place=90, counts=VERIFIER)
ID = Key(name="id", place=95)
TREE = Shape(
    name="tree",
    place=5,
    counts=BOTTOM,
    fans=True,
    tip="how many tokens are offered behind each token, by depth; one pass of the level above judges them all",
    words={
        "": "one sequence",
        "2.1": "2.1 · two, each continued",
        "2.2.1": "2.2.1 · two behind the first tokens",
        "3.1.1": "3.1.1 · three, each continued",
        "4.2.2": "4.2.2 · 28 tokens",
    },
)
REPLACE = Switch(
    name="replace",
    place=6,
    counts=BOTTOM,
    when=(TREE.name, ()),
    label="with replacement",
    tip="whether the tokens behind one place are drawn with replacement: each from the whole law, so that some may be "
    "the same; greedy runs offer the likeliest ones either way",
)
FUSE = Whole(
    name="fuse",
    place=7,
    counts=BOTTOM,
    fans=True,
    beside=1,
    low=0,
    high=MAX_GUESS,
    label="lookups",
    tip="how many looked-up sequences are merged into the draft, each beginning with one of its eight likeliest tokens",
)
GUESS = Whole(
    name="guess",
    place=55,
    counts=DRAFTER,
    fans=True,
    low=1,
    high=MAX_GUESS,
    label="guesses",
    tip="how many sequences are offered side by side; one pass of the level above judges them all",
)
WINDOW = Whole(
    name="window",
    place=56,
    counts=DRAFTER,
    rides=True,
    low=0,
    high=MAX_COLUMNS,
    tip="columns of the lookahead window: each pass of the level above carries it along and gives an n-gram a column; "
    "0: no window",
)
N = Whole(
    name="n",
    place=57,
    counts=DRAFTER,
    low=3,
    high=MAX_NGRAM,
    label="n-gram",
    tip="tokens of an n-gram: one that is looked up and those that follow it",
)
DRAFTS = (POLICY, THETA)
VERIFIES = (*DRAFTS, TREE, REPLACE, FUSE, RULE, K, BONUS)
