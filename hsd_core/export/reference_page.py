"""The reference as one HTML file without a script: sections of entries, each with an anchor.

The content comes from declarations, docstrings and parsers (`cli/reference.py`); this file only lays it out. In a text
blank lines separate paragraphs, indented blocks and lists of arguments are kept as they are, lines of `|` are a table,
`code` is in backticks, and `[name](#anchor)` links to another entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from inspect import cleandoc
from textwrap import dedent
from typing import NamedTuple

from hsd_core.export.run_page import csp_hash, document

TITLE = "Reference · HSD Explorer"
ABOUT = (
    "Made from the code by `python -m hsd_core reference --out FILE`. Every name is a link to itself. "
    "To search, press Ctrl+F (⌘F on a Mac)."
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(#([\w.-]+)\)")
_CODE = re.compile(r"(`+)(.+?)\1", re.S)
_NO_ANCHOR = re.compile(r"[^\w.]+")
_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
_MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
_STYLE = f"""
:root {{
  color-scheme: light dark;
  --ink: #1B1F24; --muted: #5C6570; --line: #E1E4E8; --paper: #fff; --soft: #EEF0F3; --accent: #0067A3;
}}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #E8EAED; --muted: #A3ABB5; --line: #31373F; --paper: #171A1F; --soft: #252A31; --accent: #7CC8F2; }}
}}
* {{ box-sizing: border-box; }}
html {{ scroll-padding-top: 12px; }}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 {_SANS}; }}
.frame {{ max-width: 1100px; margin: 0 auto; padding: 24px 20px 80px; }}
a {{ color: var(--accent); text-underline-offset: 3px; }}
a:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }}
h1 {{ margin: 0 0 4px; font-size: 1.7em; line-height: 1.25; }}
h2 {{ margin: 2.6em 0 .4em; padding-top: .7em; border-top: 1px solid var(--line); font-size: 1.35em; }}
h3 {{ margin: 2em 0 .3em; font-size: 1.05em; overflow-wrap: anywhere; }}
h2, h3 {{ line-height: 1.35; }}
:is(h2, h3, dt) > a {{ color: inherit; text-decoration: none; }}
:is(h2, h3, dt) > a:hover {{ text-decoration: underline; }}
:target {{ background: var(--soft); box-shadow: 0 0 0 6px var(--soft); border-radius: 2px; }}
p {{ max-width: 46em; margin: .5em 0; overflow-wrap: break-word; }}
.muted {{ color: var(--muted); }}
code, pre {{ font-family: {_MONO}; font-size: .9em; line-height: 1.5; overflow-wrap: anywhere; }}
td:first-child code {{ overflow-wrap: normal; }}
pre {{ margin: .6em 0; padding: 10px 12px; border-radius: 6px; background: var(--soft); white-space: pre-wrap; }}
ul {{ display: flex; flex-wrap: wrap; gap: 2px 16px; margin: .6em 0; padding: 0; list-style: none; }}
ul a {{ display: inline-block; min-width: 24px; padding: 3px 0; }}
dl {{ display: grid; grid-template-columns: minmax(9em, auto) minmax(0, 1fr); gap: 0 20px; margin: .8em 0; }}
dl > div {{ display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; padding: 6px 0; }}
dl > div {{ border-top: 1px solid var(--line); }}
dt {{ max-width: 22em; font-weight: 600; overflow-wrap: anywhere; }}
dd {{ max-width: 46em; margin: 0; overflow-wrap: break-word; }}
table {{ border-collapse: collapse; margin: .8em 0; }}
th, td {{ padding: 5px 16px 5px 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; }}
th {{ border-top: 0; color: var(--muted); font-weight: 400; }}
@media (max-width: 700px) {{
  dl, dl > div {{ display: block; }}
  dt {{ max-width: none; }}
}}
@media (min-width: 1800px) {{ body {{ font-size: 20px; }} .frame {{ max-width: 1500px; }} }}
@media print {{ body {{ font-size: 10pt; }} }}
"""


class Item(NamedTuple):
    """A line of a list. code: whether its name is something to type."""

    name: str
    text: str
    anchor: str = ""
    code: bool = True


class Entry(NamedTuple):
    """anchor: unique on the page."""

    name: str
    anchor: str
    text: str = ""
    items: Sequence[Item] = ()


class Section(NamedTuple):
    """Its items come before its entries."""

    title: str
    anchor: str
    text: str = ""
    items: Sequence[Item] = ()
    entries: Sequence[Entry] = ()


def anchor(*names: str) -> str:
    """The anchor for names, the kind first: ("option", "site", "--out")."""
    return "-".join(_NO_ANCHOR.sub("-", name).strip("-") or "x" for name in names)


def page(sections: Sequence[Section]) -> str:
    """The complete file.

    Raises:
        ValueError: an anchor occurs twice, or a link has no target.
    """
    contents = "".join(f'<li><a href="#{one.anchor}">{escape(one.title)}</a></li>' for one in sections)
    body = "\n".join(part for section in sections for part in _section(section))
    top = f'<h1>{escape(TITLE.split(" · ")[0])}</h1>\n<p class="muted">{_inline(ABOUT)}</p>'
    nav = f'<nav aria-label="Sections"><ul>{contents}</ul></nav>'
    frame = f'<div class="frame">\n<header>{top}\n{nav}</header>\n<main>\n{body}\n</main>\n</div>'
    _check(frame)
    return document(
        f"style-src {csp_hash(_STYLE.encode())}; img-src data:",
        title=TITLE,
        head=f"<style>{_STYLE}</style>",
        marks="data-reference",
        body=frame,
    )


def _section(section: Section) -> Iterator[str]:
    yield f'<section aria-labelledby="{section.anchor}">\n{_heading(2, section.title, section.anchor)}'
    yield prose(section.text)
    yield _items(section.items)
    if len(section.entries) > 1:
        listed = "".join(f'<li><a href="#{one.anchor}">{_inline(one.name)}</a></li>' for one in section.entries)
        yield f"<ul>{listed}</ul>"
    for entry in section.entries:
        yield f"{_heading(3, entry.name, entry.anchor)}\n{prose(entry.text)}\n{_items(entry.items)}"
    yield "</section>"


def _heading(depth: int, name: str, at: str) -> str:
    return f'<h{depth} id="{at}"><a href="#{at}">{_inline(name)}</a></h{depth}>'


def _items(items: Sequence[Item]) -> str:
    return f"<dl>{''.join(map(_item, items))}</dl>" if items else ""


def _item(item: Item) -> str:
    name = f"<code>{escape(item.name)}</code>" if item.code else _inline(item.name)
    if item.anchor:
        name = f'<a href="#{item.anchor}">{name}</a>'
    own = f' id="{item.anchor}"' if item.anchor else ""
    return f"<div><dt{own}>{name}</dt><dd>{_inline(item.text)}</dd></div>"


def prose(text: str) -> str:
    """A docstring or another plain text as HTML."""
    blocks = re.split(r"\n\s*\n", cleandoc(text)) if text else []
    return "\n".join(map(_block, blocks))


def _block(block: str) -> str:
    lines = block.splitlines()
    if all(line.startswith("|") for line in lines):
        return _table(lines)
    if lines[0][:1].isspace() or any(line[:1].isspace() for line in lines[1:]):
        return f"<pre>{escape(dedent(block))}</pre>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _table(lines: Sequence[str]) -> str:
    rows = [[_inline(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in lines]
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[2:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _inline(text: str) -> str:
    safe = escape(text, quote=False)
    safe = _LINK.sub(r'<a href="#\2">\1</a>', safe)
    return _CODE.sub(r"<code>\2</code>", safe)


def _check(html: str) -> None:
    anchors = re.findall(r' id="([^"]+)"', html)
    if twice := {one for one in anchors if anchors.count(one) > 1}:
        raise ValueError(f"anchors occur twice: {', '.join(sorted(twice))}")
    if dead := set(re.findall(r'href="#([^"]+)"', html)) - {*anchors}:
        raise ValueError(f"links without a target: {', '.join(sorted(dead))}")
