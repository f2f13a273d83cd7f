"""`site`: the page without a server, as plain files."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from hsd_core.cli.files import writes
from hsd_core.cli.shared_options import command


def add(commands: Any) -> None:
    parser = command(commands, "site", "the page as plain files, for a disk or any static host", act)
    writes(
        parser,
        "--out",
        folder=True,
        required=True,
        metavar="DIR",
        help="the folder to write; an earlier page there is replaced",
    )


def act(options: argparse.Namespace) -> int:
    out = Path(options.out)
    size = import_module("app.site.written").write(out)  # the page's own room, which this one does not know
    said = f"{size / 1e6:.1f} MB in all; open it in a browser, or put the folder on any static host"
    print(f"{out / 'index.html'}: {said}", file=sys.stderr)
    return 0
