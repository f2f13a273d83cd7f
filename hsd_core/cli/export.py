"""`export`: a recorded run as one HTML file that replays without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.files import reads, writes
from hsd_core.cli.shared_options import command

COLOURS = {"supplied": "level", "accepted": "passed"}  # as the page names them in its address


def add(commands: Any) -> None:
    parser = command(commands, "export", "a recorded run as one HTML file", act)
    reads(parser, "file", metavar="TRACE", help="a trace (.jsonl or .jsonl.gz)")
    writes(parser, "--out", required=True, metavar="FILE", help="the HTML file to write")
    parser.add_argument(
        "--by", choices=list(COLOURS), default="supplied", help="whose colour tokens have when it opens"
    )


def act(options: argparse.Namespace) -> int:
    from hsd_core.cli.terminal import whole
    from hsd_core.export.run_page import page

    out, text = Path(options.out), page(whole(options.file), colour=COLOURS[options.by])
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB; it needs no server and no network", file=sys.stderr)
    return 0
