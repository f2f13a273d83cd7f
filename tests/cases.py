"""Parameters of tests whose cases are of one claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def first_always(names: str | tuple[str, ...], values: Sequence[Any], **options: Any) -> pytest.MarkDecorator:
    """`pytest.mark.parametrize`, whose first case runs always and the others with `--all`."""
    one = isinstance(names, str) and "," not in names
    cases = [(value,) if one else value for value in values]
    marks = [(), *[pytest.mark.everything] * (len(cases) - 1)]
    marked = [pytest.param(*case, marks=mark) for case, mark in zip(cases, marks, strict=True)]
    return pytest.mark.parametrize(names, marked, **options)


def in_turn(names: str, values: Sequence[tuple[Any, ...]], others: Sequence[Any]) -> pytest.MarkDecorator:
    """Every value with every one of `others` (the last name): always with one of them in turn; `--all` has each."""
    marked = [
        pytest.param(*value, other, marks=[pytest.mark.everything] * (i % len(others) != n))
        for i, value in enumerate(values)
        for n, other in enumerate(others)
    ]
    return pytest.mark.parametrize(names, marked)


ENDS = (frozenset[int](), frozenset({1}))  # ids that end a text
