"""A run as one HTML file that replays without a server or a network: the page's scripts and styles, and the run.

Its Content-Security-Policy allows only this one script, by its hash, no connection and no other source. Prompts and
outputs are encoded in base64 and reach the page as text.

The run is a list of records, the same as in a live run: events as `trace.codec.to_dict` writes them, and the figures
that they change, so that the page needs no definition of a metric. Each commit is followed by a `snapshot` of the run's
figures (`repeats_from`: the token from which the text repeats itself, None if it does not), each call of a level by a
`gauge` with that level's figures.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from hsd_core.core.events import Commit, Draft, Event, Verify
from hsd_core.export.bundle import modules, script
from hsd_core.grammar.stack_text import grammar
from hsd_core.trace.codec import to_dict
from hsd_core.trace.conventions import loop_from
from hsd_core.trace.metrics import Meter
from hsd_core.typed import encode
from hsd_core.typed.program_files import ASSETS


def document(policy: str, *, title: str, head: str, marks: str, body: str) -> str:
    """The text of a file, with an empty icon, which browsers would request from the host otherwise.

    Args:
        policy: the allowed scripts, styles and images.
        head: elements after the title. marks: attributes of the body. body: its content.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
{head}
</head>
<body {marks}>
{body}
</body>
</html>
"""


def csp_hash(text: bytes) -> str:
    """The source expression of a script or a style in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


def script_json(value: object) -> str:
    """JSON that is safe inside a script element."""
    return encode(value).decode().replace("<", "\\u003c")


class RecordStream:
    """Converts the events of one run, fed in order, to records for the page."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._meter = Meter()
        self._ids: list[int] = []
        self._repeats_from: int | None = None

    def feed(self, event: Event) -> None:
        """Appends the event's record and the figures that it changes: those of the run or of the calling level."""
        self._meter.feed(event)
        self.records.append(to_dict(event))
        if isinstance(event, Commit):
            self._ids += [token.id for token in event.tokens]
            if self._repeats_from is None:  # the first loop counts, however the text ends
                self._repeats_from = loop_from(self._ids)
            figures = self._meter.snapshot()
            figures["waste"] = [level["waste"] for level in figures.pop("levels")]
            figures["repeats_from"] = self._repeats_from
            self.records.append({**figures, "event": "snapshot", "round": event.round, "t": event.t})
        elif isinstance(event, Draft | Verify):
            figures = {name: value for name, value in self._meter.level(event.level).items() if name != "waste"}
            self.records.append({**figures, "event": "gauge", "t": event.t1})


def page_records(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The records of a trace."""
    wire = RecordStream()
    for event in events:
        wire.feed(event)
    return wire.records


TITLE = "HSD Explorer"
ENTRY = "js/offline/main.js"
# The style sheets of the first screen in order: those of its parts, then those of systems, then those that change all.
OF_PARTS = (
    *("base", "layout", "help", "tower", "controls", "shelf", "text", "legend", "tree", "lanes", "caption", "card"),
    *("charts", "glossary", "anatomy", "proof"),
)
OF_ALL = ("panels", "low", "presenter", "forced")
# The colouring when the page opens, and the place of the run; js/shared/share/panel.js looks for the same strings.
COLOUR = 'data-colour="level"'
EMPTY = '<script type="text/plain" id="hx-run"></script>'


def system_assets(assets: Path, ending: str) -> list[str]:
    """Paths of the scripts ("js") or style sheets ("css") of systems for the first screen: `NAME.js` and `NAME.css` in
    folders `js/systems/NAME`."""
    found = sorted((assets / "js/systems").glob(f"*/*.{ending}"))
    return [path.relative_to(assets).as_posix() for path in found if path.stem == path.parent.name]


def style_sheets(assets: Path = ASSETS) -> list[str]:
    """Paths of the style sheets of the first screen, in order."""
    of_parts, of_all = ([f"css/{name}.css" for name in names] for names in (OF_PARTS, OF_ALL))
    return [*of_parts, *system_assets(assets, "css"), *of_all]


def page(events: Sequence[Event], *, assets: Path = ASSETS, colour: str = "level") -> str:
    """The file of a run. `colour`: the colouring when it opens, as in the page's address."""
    run = gzip.compress(encode(page_records(events)), 9, mtime=0)
    found = empty_page(assets).replace(COLOUR, COLOUR.replace("level", colour), 1)
    return found.replace(EMPTY, EMPTY.replace("><", f">{base64.b64encode(run).decode()}<"))


# The height of a run in a notebook, which its reader can drag: where it is narrower than 901 px, the tower is below the
# text.
_HEIGHT = "clamp(870px, (901px - 100cqw) * 999, 1150px)"
# What unpacks a page in a frame: packed, a notebook of many runs stays small.
_UNPACK = """const text = document.getElementById("hx-page").textContent;
const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then((page) => {
  document.open();
  document.write(page);
  document.close();
});"""


def frame(events: Sequence[Event], *, assets: Path = ASSETS) -> str:
    """The file of a run as an element of another page: it may run its own script, save
    its pictures, and reach nothing else."""
    packed = base64.b64encode(gzip.compress(page(events, assets=assets).encode(), 9, mtime=0)).decode()
    inside = f"""<!doctype html><meta charset="utf-8"><noscript>This run is shown with JavaScript, which is off here.
</noscript><script type="text/plain" id="hx-page">{packed}</script><script>{_UNPACK}</script>"""
    style = f"width: 100%; height: {_HEIGHT}; border: 0; resize: vertical"
    marks = f'title="{TITLE}" sandbox="allow-scripts allow-downloads" style="{style}"'
    return f'<div style="container-type: inline-size"><iframe {marks} srcdoc="{escape(inside)}"></iframe></div>'


@cache
def empty_page(assets: Path = ASSETS) -> str:
    """The file without its run, which replaces `EMPTY`: records as gzip in base64.

    Raises:
        BundleError: the scripts cannot be put into one.
    """

    def read(path: str) -> str:
        return (assets / path).read_text(encoding="utf-8")

    scripts = script(modules([*system_assets(assets, "js"), ENTRY], read))
    style = "\n".join(map(read, style_sheets(assets)))
    if "</style" in style.lower():
        raise ValueError("a style sheet contains </style, which would end it")
    policy = f"script-src {csp_hash(scripts.encode())}; style-src {csp_hash(style.encode())}; img-src data: blob:"
    body = f"""<noscript>This file replays a run with JavaScript, which is off here.</noscript>
<div id="stage"><div class="hx-root"></div></div>
<script type="application/json" id="hx-setup">{script_json({"grammar": grammar()})}</script>
{EMPTY}
<script type="module">{scripts}</script>"""
    head = f"<style>{style}</style>"
    return document(policy, title=TITLE, head=head, marks=f"data-offline {COLOUR}", body=body)
