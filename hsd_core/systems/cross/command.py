"""`fewer-merges`: makes a draft with another tokenizer of a preset's target; that of the recording in seconds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, writes
from hsd_core.cli.shared_options import add_preset, command, preset_from, progress

RECORDED = 3_000  # merges of smollm2-3000-merges, the draft of the recording "A draft with another tokenizer"


def add(commands: Any) -> None:
    about = "make a draft with another tokenizer: a target's layers over fewer merges, nothing is trained (level cross)"
    parser = command(commands, "fewer-merges", about, act)
    add_preset(parser)
    counts(parser, "--merges N", f"the first N are kept (default {RECORDED:,}, as recorded)", default=RECORDED)
    writes(parser, "--out DIR", "the draft's folder; its layers are a link", folder=True, required=True)


def act(options: argparse.Namespace) -> int:
    from hsd_core.models.weights import ensure
    from hsd_core.systems.cross.fewer_merges import with_fewer_merges

    out, preset = Path(options.out), preset_from(options)
    made = with_fewer_merges(ensure(preset.target, progress()), out, merges=options.merges)
    print(
        f"{out}: {'made' if made else 'is there'}; to use it: --stack cross:6@dtype=int8@id={out},target",
        file=sys.stderr,
    )
    return 0
