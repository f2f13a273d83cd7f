"""Tables of cells as Markdown and as HTML, and pages of them beside charts of plotly, which need no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

from hsd_core.grammar.stack_names import stack_names
from hsd_core.measure.results.on_clock import OnClock

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #d0d7de; }
th:first-child, td:first-child { text-align: left; min-width: 16rem; }
td code { display: block; color: #59636e; font-size: .8rem; }
.wide { overflow-x: auto; }
"""


@dataclass(frozen=True, slots=True)
class StackCell:
    """A stack in a cell: what it is called, with its code behind that."""

    name: str
    code: str

    def __str__(self) -> str:
        return f"`{self.code}`" if self.name == self.code else f"{self.name} `{self.code}`"

    def html(self) -> str:
        """The name, and the code on a line of its own."""
        name = "" if self.name == self.code else escape(self.name)
        return f"{name}<code>{escape(self.code)}</code>"

    def label(self, width: int) -> str:
        """The name as an axis of plotly shows it, in lines of about so many characters."""
        return wrapped(self.name, width)


def stack_cells(stacks: Iterable[str]) -> Mapping[str, StackCell]:
    """The cells of stacks that stand together, by their codes; one on a clock says which."""
    read = {code: OnClock.read(code) for code in stacks}
    names = stack_names(dict.fromkeys(one.stack for one in read.values()))
    return {code: StackCell(str(OnClock(names[one.stack], one.clock)), code) for code, one in read.items()}


def wrapped(text: str, width: int) -> str:
    """A label of plotly, in lines of about so many characters."""
    return "<br>".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def markdown(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """A table, a line a row."""
    first, *lines = ("".join(f" {cell} |" if cell else " |" for cell in map(str, row)) for row in (head, *body))
    return "\n|".join((f"|{first}", "---|" * len(head), *lines))


def html(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """The same as HTML."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    rows = ("".join(f"<td>{_html(cell)}</td>" for cell in row) for row in body)
    marked = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{marked}</tbody></table></div>'


def _html(cell: object) -> str:
    return cell.html() if isinstance(cell, StackCell) else escape(str(cell))


def page(title: str, said: str, command: str, charts: Sequence[Any], more: str = "") -> str:
    """One HTML file; plotly's script is part of it. charts: figures. more: HTML that stands below them."""
    from plotly.io import to_html

    drawn = "".join(to_html(chart, full_html=False, include_plotlyjs=not at) for at, chart in enumerate(charts))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1><p>{escape(said)} Command: <code>{escape(command)}</code></p>{drawn}{more}</html>"
    )


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
    """To so many significant digits, with its zeros: 66.0, 9.20, 121. As the page's `words/numbers.js` writes it."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    text = f"{value:.{min(4, max(0, digits - 1 - size))}f}"
    return f"{float(text):.{max(0, digits - 2 - size)}f}" if abs(float(text)) >= 10 ** (size + 1) else text
