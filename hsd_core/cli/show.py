"""`trace`: a recorded run as coloured terminal text with the totals per level."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from hsd_core.cli.options import flag, option, reads
from hsd_core.cli.shared_options import command
from hsd_core.cli.terminal import ACCEPTED, SUPPLIED, show, whole
from hsd_core.core import events as trace


def add(commands: Any) -> None:
    parser = command(commands, "trace", "print a recorded run and its totals", act)
    reads(parser, "file FILE", "a trace (.jsonl or .jsonl.gz)")
    option(parser, "--colour", choices=("auto", "always", "never"), default="auto")
    option(
        parser,
        "--by",
        "whose colour a token has: the level that supplied it, or the highest that accepted it before the target",
        choices=(SUPPLIED, ACCEPTED),
        default=SUPPLIED,
    )
    flag(parser, "--rejected", "show rejected drafts, struck out, by who rejected them")


def act(options: argparse.Namespace) -> int:
    events = whole(options.file)
    terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    colour = options.colour == "always" or (options.colour == "auto" and terminal)
    if isinstance(events[0], trace.Header) and events[0].simulated:
        print("simulated: no model wrote this text")
    show(events, colour=colour, by=options.by, rejected=options.rejected)
    return 0
