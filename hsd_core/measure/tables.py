"""Markdown tables and their cells: stacks with names and clocks, figures with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hsd_core.grammar.stack_names import stack_names

RECKONED = "reckoned"


class OnClock(NamedTuple):
    """A stack, and the clock that tables name with it; "" for none."""

    stack: str
    clock: str = ""

    def __str__(self) -> str:
        return f"{self.stack} ({self.clock})" if self.clock else self.stack

    @classmethod
    def read(cls, text: str) -> OnClock:
        """The inverse of `str`."""
        stack, _, clock = text.partition(" (")
        return cls(stack, clock.removesuffix(")"))


def stack_cells(stacks: Iterable[str]) -> Mapping[str, str]:
    """Stack -> its name in a table of these stacks, followed by its code, and its clock if it has one."""
    read = {code: OnClock.read(code) for code in stacks}
    names = stack_names(dict.fromkeys(one.stack for one in read.values()))
    called = {code: str(OnClock(names[one.stack], one.clock)) for code, one in read.items()}
    return {code: f"`{code}`" if name == code else f"{name} `{code}`" for code, name in called.items()}


def markdown(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    first, *lines = ("".join(f" {cell} |" if cell else " |" for cell in map(str, row)) for row in (head, *body))
    return "\n|".join((f"|{first}", "---|" * len(head), *lines))


def with_interval(value: float, ends: Sequence[float], digits: int = 3) -> str:
    """A figure and its interval, in a cell."""
    return f"{value:.{digits}f} ({ends[0]:.{digits}f} to {ends[1]:.{digits}f})"


def shares(accepted: Sequence[float | None]) -> str:
    """Acceptances of the levels above the bottom, in a cell."""
    return " / ".join("-" if a is None else f"{a:.2f}" for a in accepted[1:]) or "-"


def counted(n: int, what: str) -> str:
    """For example "2 threads"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def rounded(value: float, digits: int = 3) -> str:
    """To `digits` significant digits, with zeros: 66.0, 9.20, 121. The same as the page's `text/numbers.js`."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    text = f"{value:.{min(4, max(0, digits - 1 - size))}f}"
    return f"{float(text):.{max(0, digits - 2 - size)}f}" if abs(float(text)) >= 10 ** (size + 1) else text
