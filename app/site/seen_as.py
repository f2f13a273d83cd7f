"""One JSON text for an answer in several looks (themes and sizes of the page), where what is alike is written once.

In what `packed` gives, `{"~": [...]}` stands for a part that the looks have differently, in their order, and
`{"$": n}` for the nth of `parts`, which stands in several places. `assets/js/tabs/planner/ahead/plans-ahead.js`
reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

LOOK, PART = "~", "$"
LEAST = 24  # characters of a part: a shorter one is written out


class Look(NamedTuple):
    """How a page is seen: its theme, and its width in px."""

    dark: bool
    width: int


LOOKS = tuple(Look(dark, width) for width in (1440, 390, 1920) for dark in (False, True))


def merged(values: Sequence[Any]) -> Any:
    """One value for those of all looks."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {name: merged([value[name] for value in values]) for name in first}
    if all(isinstance(value, list) and len(value) == len(first) for value in values):
        return [merged(parts) for parts in zip(*values, strict=True)]
    return {LOOK: list(values)}


def packed(value: Any) -> dict[str, Any]:
    """`{"parts", "value"}` of a value in plain JSON types, such as `merged` gives."""
    return _Parts(value).packed()


class _Parts:
    """Every list and object once, by what it holds."""

    def __init__(self, value: Any) -> None:
        self._known: dict[Hashable, int] = {}
        self._inside: list[Any] = []  # by number: a list of numbers, an object of numbers, or a scalar
        self._long: list[int] = []  # characters, about
        self._used: Counter[int] = Counter()
        self._top = self._number(value)
        self._places: dict[int, int] = {}
        self._parts: list[Any] = []

    def packed(self) -> dict[str, Any]:
        return {"value": self._written(self._top), "parts": self._parts}

    def _number(self, value: Any) -> int:
        inside: Any = value
        key: Hashable = (type(value), value) if not isinstance(value, dict | list) else None
        long = len(str(value))
        if isinstance(value, dict):
            inside = {name: self._number(part) for name, part in value.items()}
            key = (dict, *inside.items())
            long = sum(len(name) + 4 + self._long[part] for name, part in inside.items())
        elif isinstance(value, list):
            inside = [self._number(part) for part in value]
            key = (list, *inside)
            long = sum(1 + self._long[part] for part in inside)
        if key not in self._known:
            self._known[key] = len(self._inside)
            self._inside.append(inside)
            self._long.append(long)
            if isinstance(inside, dict | list):
                self._used.update(inside.values() if isinstance(inside, dict) else inside)
        return self._known[key]

    def _written(self, number: int) -> Any:
        inside = self._inside[number]
        if not isinstance(inside, dict | list) or self._used[number] < 2 or self._long[number] < LEAST:
            return self._body(number)
        if number not in self._places:
            body = self._body(number)
            self._places[number] = len(self._parts)
            self._parts.append(body)
        return {PART: self._places[number]}

    def _body(self, number: int) -> Any:
        inside = self._inside[number]
        if isinstance(inside, dict):
            return {name: self._written(part) for name, part in inside.items()}
        return [self._written(part) for part in inside] if isinstance(inside, list) else inside
