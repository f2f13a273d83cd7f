"""A recorded run: `trace` prints it as coloured text with the totals, `export` writes one HTML file that replays it
without a server, `convert` converts a run or a race of an earlier version to this one.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import flag, option, reads, writes
from hsd_core.cli.shared_options import command
from hsd_core.cli.terminal import ACCEPTED, SUPPLIED, read_checked, show
from hsd_core.core import events as trace


def add(commands: Any) -> None:
    _add_trace(commands)
    _add_export(commands)
    _add_convert(commands)


def _add_trace(commands: Any) -> None:
    parser = command(commands, "trace", "print a recorded run and its totals", show_trace)
    reads(parser, "file FILE", "a trace (.jsonl or .jsonl.gz)")
    option(parser, "--colour", choices=("auto", "always", "never"), default="auto")
    option(
        parser,
        "--by",
        "colour tokens by the level that supplied them, or by the highest that accepted them before the target",
        choices=(SUPPLIED, ACCEPTED),
        default=SUPPLIED,
    )
    flag(parser, "--rejected", "show rejected drafts, struck out, coloured by the level that rejected them")


def show_trace(options: argparse.Namespace) -> int:
    events = read_checked(options.file)
    terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    colour = options.colour == "always" or (options.colour == "auto" and terminal)
    if isinstance(events[0], trace.Header) and events[0].simulated:
        print("simulated: no model wrote this text")
    show(events, colour=colour, by=options.by, rejected=options.rejected)
    return 0


COLOURS = {"supplied": "level", "accepted": "passed"}  # the names in the address of the page


def _add_export(commands: Any) -> None:
    parser = command(commands, "export", "a recorded run as one HTML file", export)
    reads(parser, "file TRACE", "a trace (.jsonl or .jsonl.gz)")
    writes(parser, "--out FILE", "the HTML file to write", required=True)
    option(parser, "--by", "colour of the tokens when it opens", choices=list(COLOURS), default="supplied")


def export(options: argparse.Namespace) -> int:
    from hsd_core.export.run_page import page

    out, text = Path(options.out), page(read_checked(options.file), colour=COLOURS[options.by])
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB; it needs no server and no network", file=sys.stderr)
    return 0


def _add_convert(commands: Any) -> None:
    parser = command(commands, "convert", "a trace or a race of an earlier version as a file of this one", convert)
    reads(parser, "file FILE", "a trace or a race (.jsonl or .jsonl.gz), of any version that is read")
    writes(parser, "--out FILE", "the file to write, compressed if it ends in .gz", required=True)


def convert(options: argparse.Namespace) -> int:
    from hsd_core.measure.race import race_file
    from hsd_core.trace import file as tracefile
    from hsd_core.typed.files import MAX_BYTES

    data = tracefile.bytes_of(options.file, MAX_BYTES)
    if tracefile.unpacked(data, MAX_BYTES).startswith(b'{"event":"race"'):
        race_file.write(options.out, race_file.read(data))
    else:
        tracefile.write(options.out, tracefile.read(data))
    print(f"{options.out}: {Path(options.out).stat().st_size / 1000:.0f} kB", file=sys.stderr)
    return 0
