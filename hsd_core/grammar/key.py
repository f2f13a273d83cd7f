"""Keys: what `@key=value` may be, once for a key: its type and range, what it is without being given, its words.

A kind of level, a rule and a stop policy declare theirs (`Kind.keys`, `RuleKind.keys`, `PolicyKind.keys`); the grammar
here and the one of the page read the same, and refuse with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, pairwise
from math import prod
from operator import mul
from typing import Any, ClassVar, Generic, TypeVar

Value = str | int | float | bool
V = TypeVar("V", bound=Value)
LAST = 99  # place of a key that only one kind has
OF_SERVERS = ("known", "noun", "listed")  # what of a key is no matter of the page
VERIFIER, DRAFTER, BOTTOM, TOPMOST = "verifier", "drafter", "bottom", "topmost"


class StackError(ValueError):
    """A stack that cannot be read or built; the message names the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Generic[V]):
    """A key.

    Attributes:
        place: in the order in which keys are written.
        counts: what the level has to be for the key to count: "verifier" (not the bottom), "drafter" (not the last),
            "bottom" (the first of several), "topmost" (the last of several).
        fans: its value says how many sequences a draft holds side by side (`sequences`).
        rides: its value says how much the level above computes beside a draft, in the same pass; 0 for nothing.
        when: another key, and the values of it with which this one counts: of the key of a rule or a policy, as the
            registry says.
        of: keys one of which has to be given for this one to count.
        instead: another key that says the same in another way, so that a level is given one of them; the composer
            offers both in one control.
        usual: what a level has that is not given the key; None where nothing is known without it. Several that declare
            one key may have it otherwise (`usually`). usuals: as written, what it is instead at a value of `when`'s
            key; from the registry.
        label, tip: the control in the composer and what it says; without a tip there is no control. tips: what it says
            instead at a value of `when`'s key; from the registry.
        terms: words for values in a stack's name. noted: what a name says of the value, written {}, where it has to
            tell stacks apart. around: what stands around the words of a level that was given the key, written {level}.
    """

    type: ClassVar[str] = ""
    name: str
    place: int = LAST
    counts: str = ""
    when: tuple[str, tuple[str, ...]] | None = None
    of: tuple[str, ...] = ()
    instead: str = ""
    usual: V | None = None
    usuals: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    fans: bool = False
    rides: bool = False
    tip: str = ""
    tips: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    noted: str = ""
    around: str = ""

    @property
    def title(self) -> str:
        return self.name

    @property
    def cure(self) -> str:
        """What to write instead of a text that stands for no value."""
        return ""

    @property
    def note(self) -> str:
        """`noted`, which a key without words for it has too."""
        return self.noted or f"{self.name} {{}}"

    def usually(self: Same, value: Value, tip: str = "") -> Same:
        """The same key as one declares it that has this value without being given any, perhaps with words of its own
        for it."""
        return replace(self, usual=value, tip=tip or self.tip)  # type: ignore[arg-type]

    def parse(self, text: str) -> V | None:
        """The value that a text stands for; None where it stands for none."""
        raise NotImplementedError

    def read(self, text: str, level: str) -> V:
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
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in OF_SERVERS}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in own.items()}
        said = {"type": self.type, "title": self.title, "cure": self.cure, "label": self.label or self.name}
        said["noted"] = self.note
        return {**plain, **said, "usual": None if self.usual is None else self.write(self.usual)}


Same = TypeVar("Same", bound=Key[Any])


def with_defaults(keys: Iterable[Key[Any]], values: Mapping[str, Value]) -> dict[str, Any]:
    """The values of these keys by name: those given, else as they are declared."""
    return {key.name: values.get(key.name, key.usual) for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Key[str]):
    """Any text: what it has to name is known where the level is built."""

    type = "text"

    def parse(self, text: str) -> str | None:
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsName(Text):
    """Names weights: a server takes those alone that its catalogue lists.

    known: words that name none, so that any server takes them.
    """

    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKey(Key[str]):
    """Its value may name files: a server takes those alone that its catalogue lists.

    noun: what such a file is. listed: the field of a level in the catalogue with those that there are. suffix: of files
        of the operator's folder that are listed too; "" where none are.
    """

    noun: str
    listed: str
    suffix: str = ""

    def files(self, value: str) -> list[str]:
        """The files that a value names."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileName(FileKey):
    """A file, or one of some words that name none (`known`)."""

    type = "text"
    known: tuple[str, ...] = ()

    def parse(self, text: str) -> str | None:
        return text

    def files(self, value: str) -> list[str]:
        return [] if value in self.known else [value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Key[int]):
    """A whole number within a range, written in at most nine figures.

    beside: sequences of a draft beside those that it counts, where it says how many there are. words: the values that
        the composer offers, where it offers some.
    """

    type = "whole"
    low: int
    high: int
    step: int = 1
    unit: str = ""
    beside: int = 0
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def cure(self) -> str:
        return f"use a whole number from {self.low} to {self.high}"

    def parse(self, text: str) -> int | None:
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

    def parse(self, text: str) -> bool | None:
        found = Whole.parse(self, text)
        return None if found is None else bool(found)

    def write(self, value: Value) -> str:
        return str(int(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Key[float]):
    """A number from 0 to 1, such as a probability."""

    type = "share"
    low: float = 0.0
    high: float = 1.0
    step: float = 0.05

    @property
    def cure(self) -> str:
        return f"use a number from {self.low:g} to {self.high:g}, such as {self.usual}"

    def parse(self, text: str) -> float | None:
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
class Choice(Key[str]):
    """One of some words.

    words: what the composer says of each, in its order. inner: those that a level below the last may have too, where
        not all may.
    """

    type = "choice"
    choices: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[str, ...] = ()

    @property
    def cure(self) -> str:
        return f"use one of {', '.join(self.choices)}"

    def parse(self, text: str) -> str | None:
        return text if text in self.choices else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Key[str]):
    """How many children a node of a tree has, by depth: whole numbers joined by dots.

    most: children of a node. nodes: of the whole tree. words: shapes that the composer offers.
    """

    type = "shape"
    most: int = 9
    nodes: int
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def cure(self) -> str:
        return (
            f"use the number of offers behind each token by depth, 1 to {self.most} each and {self.nodes} tokens in "
            "all at most, such as 2.2.1"
        )

    def parse(self, text: str) -> str | None:
        parts = text.split(".")
        good = all(len(part) == 1 and part in "123456789"[: self.most] for part in parts)
        return text if good and sum(accumulate(map(int, parts), mul)) <= self.nodes else None

    def sequences(self, value: Value) -> int:
        return prod(int(part) for part in str(value).split("."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Depths(Key[str]):
    """Numbers of layers that rise, joined by -; a single one is one too."""

    type = "depths"
    low: int = 1
    high: int

    @property
    def title(self) -> str:
        return f"{self.name} (layers)"

    @property
    def cure(self) -> str:
        return f"use rising numbers of layers from {self.low} to {self.high}, joined by -, such as 4-8"

    def parse(self, text: str) -> str | None:
        parts = text.split("-")
        if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
            return None
        found = [int(part) for part in parts]
        rises = all(one < then for one, then in pairwise(found))
        return "-".join(map(str, found)) if rises and self.low <= found[0] and found[-1] <= self.high else None


def depths_of(value: Value | None) -> tuple[int, ...]:
    """The depths that a level's key says, rising: several, one, or none where it was given none."""
    return () if value is None else tuple(int(part) for part in str(value).split("-"))
