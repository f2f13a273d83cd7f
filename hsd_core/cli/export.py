"""`export`: a recorded run as one HTML file that replays without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import option, reads, writes
from hsd_core.cli.shared_options import command

COLOURS = {"supplied": "level", "accepted": "passed"}  # as the page names them in its address


def add(commands: Any) -> None:
    parser = command(commands, "export", "a recorded run as one HTML file", act)
    reads(parser, "file TRACE", "a trace (.jsonl or .jsonl.gz)")
    writes(parser, "--out FILE", "the HTML file to write", required=True)
    option(parser, "--by", "whose colour tokens have when it opens", choices=list(COLOURS), default="supplied")


def act(options: argparse.Namespace) -> int:
    from hsd_core.cli.terminal import whole
    from hsd_core.export.run_page import page

    out, text = Path(options.out), page(whole(options.file), colour=COLOURS[options.by])
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB; it needs no server and no network", file=sys.stderr)
    return 0
