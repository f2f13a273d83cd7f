"""Tables of cells as Markdown and as HTML, and pages of them beside charts of plotly, which need no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #d0d7de; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; }
.wide { overflow-x: auto; }
"""


def markdown(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """A table, a line a row."""
    first, *lines = ("".join(f" {cell} |" if cell else " |" for cell in map(str, row)) for row in (head, *body))
    return "\n|".join((f"|{first}", "---|" * len(head), *lines))


def html(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """The same as HTML."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    rows = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in body)
    marked = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{marked}</tbody></table></div>'


def page(title: str, said: str, command: str, charts: Sequence[Any], more: str = "") -> str:
    """One HTML file; plotly's script is part of it. charts: figures. more: HTML that stands below them."""
    from plotly.io import to_html

    drawn = "".join(to_html(chart, full_html=False, include_plotlyjs=not at) for at, chart in enumerate(charts))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1><p>{escape(said)} Command: <code>{escape(command)}</code></p>{drawn}{more}</html>"
    )


def shares(accepted: Sequence[float | None]) -> str:
    """Acceptances of the levels above the bottom, in a cell."""
    return " / ".join("-" if a is None else f"{a:.2f}" for a in accepted[1:]) or "-"


def counted(n: int, what: str) -> str:
    """For example "2 threads"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
