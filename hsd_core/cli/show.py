"""`trace`: a recorded run as coloured terminal text with the totals per level."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from hsd_core import trace
from hsd_core.cli.terminal import text_lines, totals_lines
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("trace", help="print a recorded run and its totals")
    parser.add_argument("file", metavar="FILE", help="a trace (.jsonl or .jsonl.gz)")
    parser.add_argument("--colour", choices=("auto", "always", "never"), default="auto")
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    events = tracefile.read(options.file)
    wrong = check(events)
    if wrong:
        raise ValueError(f"{options.file}: the trace does not add up: {wrong[0]} ({len(wrong)} in all)")
    terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    colour = options.colour == "always" or (options.colour == "auto" and terminal)
    if isinstance(events[0], trace.Header) and events[0].simulated:
        print("simulated: no model wrote this text")
    print(text_lines(events, colour=colour))
    print()
    for line in totals_lines(events, colour=colour):
        print(line)
    return 0
