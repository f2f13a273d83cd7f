"""Keys: the type, the range, the default and the texts of each `@key=value`, declared once.

Kinds of levels, rules and stop policies declare their keys (`Kind.keys`, `RuleKind.keys`, `PolicyKind.keys`). The page
reads the same declarations and refuses a stack with the same messages.
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
SERVER_FIELDS = ("inexact", "known", "own", "noun", "listed")  # fields that the page does not need
VERIFIER, DRAFTER, BOTTOM, TOPMOST = "verifier", "drafter", "bottom", "topmost"


class StackError(ValueError):
    """A stack that cannot be read or built; the message names the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Generic[V]):
    """A key.

    Attributes:
        place: position in the order in which keys are written.
        counts: the position a level needs for the key to have an effect: "verifier" (not the bottom), "drafter" (not
            the last), "bottom" (the first of several), "topmost" (the last of several).
        fans: the value sets how many candidate sequences a draft has (`sequences`).
        rides: the value sets how many extra rows the level above computes in the pass that verifies a draft; 0 is none.
        when: another key and the values of it at which this one has an effect. The registry sets it for the keys of
            rules, policies and schedulers.
        of: keys of which at least one has to be given for this one to have an effect.
        instead: another key for the same setting. A level takes one of the two; one control in the composer has both.
        usual: the default; None if there is none. Kinds that declare the same key may have different defaults
            (`usually`). usuals: defaults, as written, by the value of `when`'s key; set by the registry.
        label, tip: the label and the tooltip of the control in the composer; without a tip there is no control.
            tips: tooltips by the value of `when`'s key; set by the registry.
        terms: texts for values in a stack's name. noted: the text that tells two stacks of one name apart, with {} for
            the value. around: the text around a level's name if the level has the key, with {level} for that name.
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
        """How to write a valid value, for the message that refuses a text."""
        return ""

    @property
    def note(self) -> str:
        """`noted`, or a default text for keys that declare none."""
        return self.noted or f"{self.name} {{}}"

    def usually(self: Same, value: Value, tip: str = "") -> Same:
        """The same key with another default, and optionally another tooltip."""
        return replace(self, usual=value, tip=tip or self.tip)  # type: ignore[arg-type]

    def parse(self, text: str) -> V | None:
        """The value of a text; None if the text is not a valid value."""
        raise NotImplementedError

    def read(self, text: str, level: str) -> V:
        """The value of a text at a level.

        Raises:
            StackError: the text is not a valid value.
        """
        value = self.parse(text)
        if value is None:
            raise StackError(f"{level}: {self.title} is {text!r}; {self.cure}")
        return value

    def write(self, value: Value) -> str:
        return str(value)

    def sequences(self, value: Value) -> int:
        """The number of candidate sequences in a draft at a value, for keys with `fans`."""
        return int(value)

    def as_dict(self) -> dict[str, Any]:
        """For the page, in plain JSON types."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in SERVER_FIELDS}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in own.items()}
        said = {"type": self.type, "title": self.title, "cure": self.cure, "label": self.label or self.name}
        said["noted"] = self.note
        return {**plain, **said, "usual": None if self.usual is None else self.write(self.usual)}


Same = TypeVar("Same", bound=Key[Any])


def with_defaults(keys: Iterable[Key[Any]], values: Mapping[str, Value]) -> dict[str, Any]:
    """The values of these keys by name: the given ones, else the defaults."""
    return {key.name: values.get(key.name, key.usual) for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Key[str]):
    """Any text. What it names is checked when the level is built."""

    type = "text"

    def parse(self, text: str) -> str | None:
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsName(Text):
    """The name of weights. A server accepts only those in its catalogue.

    known: words with a meaning of their own, which every server accepts.
    """

    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKey(Key[str]):
    """A value that may name files. A server accepts only those in its catalogue.

    noun: what such a file is called in messages. listed: the field of the catalogue's levels that lists the files.
    suffix: the suffix of files in the operator's folder to list too; "" for none.
    """

    noun: str
    listed: str
    suffix: str = ""

    def files(self, value: str) -> list[str]:
        """The files that a value names."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileName(FileKey):
    """A file, or a word that is no file (`known`, or `own`: for what earlier runs wrote, on a server a visitor's)."""

    type = "text"
    known: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def parse(self, text: str) -> str | None:
        return text

    def files(self, value: str) -> list[str]:
        return [] if value in (*self.known, *self.own) else [value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Key[int]):
    """A whole number within a range, written with at most nine digits.

    beside: candidate sequences of a draft in addition to the value, for keys with `fans`. words: the values that the
    composer offers, with a text each.
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
    """One of several words.

    words: the composer's text for each, in its order. inner: the words that levels below the last one may have; empty
    if all may. inexact: for words at which a draft's rows are not those that it drew from, what the level above does.
    """

    type = "choice"
    choices: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    inexact: Mapping[str, str] = field(default_factory=dict)

    @property
    def cure(self) -> str:
        return f"use one of {', '.join(self.choices)}"

    def parse(self, text: str) -> str | None:
        return text if text in self.choices else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Key[str]):
    """The number of children of a tree's nodes, by depth: whole numbers joined by dots.

    most: the limit for children of a node. nodes: the limit for the whole tree. words: the composer's shapes.
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
    """One or more rising numbers of layers, joined by "-"."""

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
    """The depths in the value of a `Depths` key, rising; () for None."""
    return () if value is None else tuple(int(part) for part in str(value).split("-"))
