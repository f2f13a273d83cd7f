"""A run as one HTML file that replays without a server or a network: the page's scripts and styles, and the run.

The file may do nothing but that: its Content-Security-Policy allows this one script by its hash, no connection and
nothing from elsewhere. What a prompt or a model said lies packed in letters and digits, and reaches the page as text.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hsd_core.export.bundle import bundle
from hsd_core.export.records import records
from hsd_core.stacks.grammar import grammar
from hsd_core.trace import Event
from hsd_core.trace.typed import encode

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
    words = encode({"grammar": grammar()}).decode().replace("<", "\\u003c")
    script = bundle(ENTRY, lambda path: (assets / path).read_text(encoding="utf-8"))
    style = "\n".join((assets / "css" / f"{name}.css").read_text(encoding="utf-8") for name in SHEETS)
    if "</style" in style.lower():
        raise ValueError("a style sheet holds </style, which would end it")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>HSD Explorer</title>
<style>{style}</style>
</head>
<body data-offline {COLOUR}>
<noscript>This file replays a run with JavaScript, which is off here.</noscript>
<div id="stage"><div class="hx-root"></div></div>
<script type="application/json" id="hx-setup">{words}</script>
{EMPTY}
<script type="module">{script}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
