"""`export`: a recorded run as one HTML file that replays without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import command


def add(commands: Any) -> None:
    parser = command(commands, "export", "a recorded run as one HTML file", act)
    parser.add_argument("file", metavar="TRACE", help="a trace (.jsonl or .jsonl.gz)")
    parser.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")


def act(options: argparse.Namespace) -> int:
    from hsd_core.cli.terminal import whole
    from hsd_core.export.page import page

    out = Path(options.out)
    if not out.parent.is_dir():
        raise ValueError(f"{out.parent} is no folder; name a file in one that is there")
    text = page(whole(options.file))
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB; it needs no server and no network", file=sys.stderr)
    return 0
