"""`convert`: a recorded run or race of an earlier version as a file of this one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import reads, writes
from hsd_core.cli.shared_options import command


def add(commands: Any) -> None:
    parser = command(commands, "convert", "a trace or a race of an earlier version as a file of this one", act)
    reads(parser, "file FILE", "a trace or a race (.jsonl or .jsonl.gz), of any version that is read")
    writes(parser, "--out FILE", "the file to write, compressed if it ends in .gz", required=True)


def act(options: argparse.Namespace) -> int:
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
