"""`results`: the tables of raw results, printed, or made again where they stand in Markdown files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import option, reads, writes
from hsd_core.cli.shared_options import command
from hsd_core.measure.rawfile import read_raw


def add(commands: Any) -> None:
    parser = command(commands, "results", "tables of what bench and validate kept", act)
    reads(parser, "files FILE", "raw results; print their tables as Markdown", nargs="*")
    option(parser, "--view NAME", "only this table of each file")
    writes(parser, "--update FILE.md", "make marked tables again in place", goes_on=True, nargs="+", default=[])
    writes(parser, "--summary FILE", "of one validation, what the page's Planner draws (JSON)")
    reads(parser, "--earlier FILE", "validations that it names too", nargs="+", default=[])


def act(options: argparse.Namespace) -> int:
    from hsd_core.cli.validate import write_summary
    from hsd_core.measure.results import updated, view, views
    from hsd_core.measure.validate.raw_results import read_validation

    if not options.files and not options.update:
        raise ValueError("nothing to do; name files of raw results, or Markdown files with --update")
    if options.summary and (len(options.files) != 1 or read_raw(options.files[0])[0]["kind"] != "validation"):
        raise ValueError("--summary is of one validation; name its file")
    for file in map(Path, options.files):
        for name in [options.view] if options.view else views(file):
            print(f"**{file.stem}: {name}**\n\n{view(file, name)}\n")
    if options.summary:
        write_summary(read_validation(*read_raw(options.files[0])), Path(options.summary), options.earlier)
    for file in map(Path, options.update):
        before, text = file.read_text(encoding="utf-8"), updated(file)
        if text != before:
            file.write_text(text, encoding="utf-8")
        print(f"{file}: {'made again' if text != before else 'as it was'}", file=sys.stderr)
    return 0
