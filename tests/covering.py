"""A few cases of a parametrised test that together have every value, or every word of a stack, at least once.

    @pytest.mark.covering                  every value of every parameter
    @pytest.mark.covering("text", "rule")  of these parameters alone; of a stack's text every level and every setting

The other cases are marked `everything`: --all runs them too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable

import pytest

_WORD = re.compile(r"\w+(?:=[^,@]+)?")  # of "ngram:3,exit:3@at=2,target": ngram, 3, exit, at=2, target
_STACK = re.compile(r"\w+(?::\d+)?(?:@[^,]+)*(?:,[^,]+)*")


def mark_the_others(items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("covering") and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        names = found[0].get_closest_marker("covering").args
        has = {id(item): _values(item, names) for item in found}
        missing = set().union(*has.values())
        while missing:
            best = max(found, key=lambda item: len(has[id(item)] & missing))
            missing -= has.pop(id(best))
            found.remove(best)
        for item in found:
            item.add_marker("everything")


def _values(item: pytest.Item, names: tuple[str, ...]) -> set[Hashable]:
    """What a case has: of a stack's text its words, of other parameters which value it is."""
    spec = item.callspec
    values: set[Hashable] = set()
    for name in names or spec.params:
        value = spec.params[name]
        if names and isinstance(value, str) and _STACK.fullmatch(value):
            values |= set(_WORD.findall(value))
        else:
            values.add((name, id(value)))  # one object in all cases that have it
    return values
