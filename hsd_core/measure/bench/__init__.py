"""Stacks measured side by side: with plain decoding of the same target, and with other programs."""

from hsd_core.measure.bench.prompts import Prompt, read_asked, read_prompts, read_stacks
from hsd_core.measure.bench.side_by_side import (
    BenchPeer,
    Measurement,
    PeerRun,
    PeerText,
    Runner,
    beside,
    from_record,
    plain_of,
    sweep,
    whole,
    with_plain,
)
from hsd_core.measure.bench.summary import best_by_levels, drafts_table, sampled, summary, table
