"""A few cases of a parametrised test that together have every value, or every word of a stack, at least once.

    @pytest.mark.covering                  every value of every parameter
    @pytest.mark.covering("text", "rule")  of these parameters alone; of a stack's text every level and every setting
    @pytest.mark.covering("text", kinds=True)  of a stack's text every kind of level alone

The other cases are marked `everything`: --all runs them too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import pytest

_KIND = re.compile(r"(?:^|,)(\w+)")
_WORD = re.compile(r"\w+(?:=[^,@]+)?")  # of "ngram:3,exit:3@at=2,target": ngram, 3, exit, at=2, target
_STACK = re.compile(r"\w+(?::\d+)?(?:@[^,]+)*(?:,[^,]+)*")


def mark_the_others(items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("covering") and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        marker = found[0].get_closest_marker("covering")
        words = _KIND if marker.kwargs.get("kinds") else _WORD
        has = {id(item): _values(item, marker.args, words) for item in found}
        missing = set().union(*has.values())
        while missing:
            best = max(found, key=lambda item: len(has[id(item)] & missing))
            missing -= has.pop(id(best))
            found.remove(best)
        for item in found:
            item.add_marker("everything")


def seeds(count: int, *, always: int) -> list[Any]:
    """Numbers below `count`, those from `always` on for --all."""
    return [pytest.param(seed, marks=[pytest.mark.everything] * (seed >= always)) for seed in range(count)]


def _values(item: pytest.Item, names: tuple[str, ...], words: re.Pattern[str]) -> set[Hashable]:
    """What a case has: of a stack's text its words, of other parameters which value it is."""
    spec = item.callspec
    values: set[Hashable] = set()
    for name in names or spec.params:
        value = spec.params[name]
        if names and isinstance(value, str) and _STACK.fullmatch(value):
            values |= set(words.findall(value))
        else:
            values.add((name, id(value)))  # one object in all cases that have it
    return values
