"""`site`: writes the page as plain files; `space`: writes the folder to push to a Space of the Hugging Face Hub."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import option, writes
from hsd_core.cli.shared_options import command
from hsd_core.typed.program_files import page_module

KINDS = ("static", "zerogpu", "cpu")  # of Spaces


def add(commands: Any) -> None:
    site = command(commands, "site", "the page as plain files, for a disk or any static host", act)
    _out(site, "the folder to write; an earlier page in it is replaced")
    space = command(commands, "space", "the folder to push to a Hugging Face Space", pushed)
    option(space, "kind", "static (free): without an engine; zerogpu; cpu", choices=KINDS)
    _out(space, "the folder to write; an earlier Space in it is replaced")


def _out(parser: argparse.ArgumentParser, text: str) -> None:
    writes(parser, "--out DIR", text, folder=True, required=True)


def act(options: argparse.Namespace) -> int:
    out = Path(options.out)
    size = page_module("site.written").write(out)
    where = f"{size / 1e6:.1f} MB in all; open it in a browser, or put the folder on any static host"
    print(f"{out / 'index.html'}: {where}", file=sys.stderr)
    return 0


def pushed(options: argparse.Namespace) -> int:
    out, spaces = Path(options.out), page_module("space.folder")
    says = page_module("words.space")
    size = spaces.write(options.kind, out)
    print(says.written(str(out), size / 1e6, options.kind), file=sys.stderr)
    print(says.typed(options.kind, shlex.quote(str(out))), file=sys.stderr)
    return 0
