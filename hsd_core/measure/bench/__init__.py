"""Benchmarks: stacks compared with plain decoding of the same target, and with other programs."""

from hsd_core.measure.bench.prompts import Prompt, read_conversations, read_prompts, read_stack_lines, read_stacks
from hsd_core.measure.bench.side_by_side import (
    BenchPeer,
    Measurement,
    PeerRun,
    PeerText,
    Runner,
    Said,
    completed,
    from_record,
    interleaved,
    plain_of,
    sweep,
    with_plain,
)
from hsd_core.measure.bench.summary import (
    best_by_levels,
    by_category,
    category_table,
    drafts_table,
    sampled,
    summary,
    table,
)
