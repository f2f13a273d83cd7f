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
from hsd_core.export.bundle import bundle
from hsd_core.export.document import document, hashed, inside
from hsd_core.export.records import records
from hsd_core.grammar.stack_text import grammar
from hsd_core.typed import encode

ASSETS = Path(__file__).resolve().parents[2] / "assets"
ENTRY = "js/offline/main.js"
# The style sheets of the first screen, in the order in which later ones add to earlier ones.
SHEETS = (
    *(
        "base",
        "layout",
        "help",
        "tower",
        "controls",
        "shelf",
        "text",
        "legend",
        "tree",
        "lanes",
        "caption",
        "card",
        "glossary",
    ),
    *("anatomy", "proof", "databases", "panels", "low", "presenter", "forced"),
)
# What tokens are coloured by when it opens, and where the run is put; js/share/save-page.js looks for the same.
COLOUR = 'data-colour="level"'
EMPTY = '<script type="text/plain" id="hx-run"></script>'


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
    script = bundle(ENTRY, lambda path: (assets / path).read_text(encoding="utf-8"))
    style = "\n".join((assets / "css" / f"{name}.css").read_text(encoding="utf-8") for name in SHEETS)
    if "</style" in style.lower():
        raise ValueError("a style sheet holds </style, which would end it")
    policy = f"script-src {hashed(script.encode())}; style-src {hashed(style.encode())}; img-src data: blob:"
    body = f"""<noscript>This file replays a run with JavaScript, which is off here.</noscript>
<div id="stage"><div class="hx-root"></div></div>
<script type="application/json" id="hx-setup">{inside({"grammar": grammar()})}</script>
{EMPTY}
<script type="module">{script}</script>"""
    head = f"<style>{style}</style>"
    return document(policy, title="HSD Explorer", head=head, marks=f"data-offline {COLOUR}", body=body)
