"""A run as one HTML file that replays without a server or a network: the page's scripts and styles, and the run.

The file may do nothing but that: its Content-Security-Policy allows this one script by its hash, no connection and
nothing from elsewhere. What a prompt or a model said lies packed in letters and digits, and reaches the page as text.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hsd_core.core.events import Event
from hsd_core.export.bundle import modules, script
from hsd_core.export.document import document, hashed, inside
from hsd_core.export.records import records
from hsd_core.grammar.stack_text import grammar
from hsd_core.typed import encode

ASSETS = Path(__file__).resolve().parents[2] / "assets"
ENTRY = "js/offline/main.js"
# The style sheets of the first screen, in the order in which later ones add to earlier ones: those of its parts, then
# those of systems, then how all of them change.
OF_PARTS = (
    *("base", "layout", "help", "tower", "controls", "shelf", "text", "legend", "tree", "lanes", "caption", "card"),
    *("glossary", "anatomy", "proof"),
)
OF_ALL = ("panels", "low", "presenter", "forced")
# What tokens are coloured by when it opens, and where the run is put; js/share/save-page.js looks for the same.
COLOUR = 'data-colour="level"'
EMPTY = '<script type="text/plain" id="hx-run"></script>'


def brought(assets: Path, ending: str) -> list[str]:
    """Paths of the scripts ("js") or style sheets ("css") that systems bring to the first screen: `NAME.js` and
    `NAME.css` of each folder `js/systems/NAME` that has one."""
    found = sorted((assets / "js/systems").glob(f"*/*.{ending}"))
    return [path.relative_to(assets).as_posix() for path in found if path.stem == path.parent.name]


def sheets(assets: Path = ASSETS) -> list[str]:
    """Paths of the style sheets of the first screen, in order."""
    of_parts, of_all = ([f"css/{name}.css" for name in names] for names in (OF_PARTS, OF_ALL))
    return [*of_parts, *brought(assets, "css"), *of_all]


def page(events: Sequence[Event], *, assets: Path = ASSETS, colour: str = "level") -> str:
    """The file of a run. `colour`: what tokens are coloured by when it opens, as in the page's address."""
    run = gzip.compress(encode(records(events)), 9, mtime=0)
    found = empty_page(assets).replace(COLOUR, COLOUR.replace("level", colour), 1)
    return found.replace(EMPTY, EMPTY.replace("><", f">{base64.b64encode(run).decode()}<"))


@cache
def empty_page(assets: Path = ASSETS) -> str:
    """The file without its run, which is to stand in `EMPTY`: records, as gzip, in base64.

    Raises:
        BundleError: the scripts cannot be put into one.
    """

    def read(path: str) -> str:
        return (assets / path).read_text(encoding="utf-8")

    scripts = script(modules([*brought(assets, "js"), ENTRY], read))
    style = "\n".join(map(read, sheets(assets)))
    if "</style" in style.lower():
        raise ValueError("a style sheet holds </style, which would end it")
    policy = f"script-src {hashed(scripts.encode())}; style-src {hashed(style.encode())}; img-src data: blob:"
    body = f"""<noscript>This file replays a run with JavaScript, which is off here.</noscript>
<div id="stage"><div class="hx-root"></div></div>
<script type="application/json" id="hx-setup">{inside({"grammar": grammar()})}</script>
{EMPTY}
<script type="module">{scripts}</script>"""
    head = f"<style>{style}</style>"
    return document(policy, title="HSD Explorer", head=head, marks=f"data-offline {COLOUR}", body=body)
