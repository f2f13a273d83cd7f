"""`export`: a recorded run as one HTML file that replays without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("export", help="a recorded run as one HTML file")
    parser.add_argument("file", metavar="TRACE", help="a trace (.jsonl or .jsonl.gz)")
    parser.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core.export.page import page
    from hsd_core.trace import file as tracefile
    from hsd_core.trace.checks import check

    out = Path(options.out)
    if not out.parent.is_dir():
        raise ValueError(f"{out.parent} is no folder; name a file in one that is there")
    events = tracefile.read(options.file)
    if wrong := check(events):
        raise ValueError(f"{options.file}: the trace does not add up: {wrong[0]} ({len(wrong)} in all)")
    text = page(events)
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB; it needs no server and no network", file=sys.stderr)
    return 0
