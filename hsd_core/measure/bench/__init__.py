"""Stacks measured side by side: with plain decoding of the same target, and with other programs."""

from hsd_core.measure.bench.prompts import Prompt, read_asked, read_prompts, read_stacks
from hsd_core.measure.bench.runs import (
    Measurement,
    Peer,
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
from hsd_core.measure.bench.summary import drafts_table, sampled, summary, table

__all__ = [
    "Measurement",
    "Peer",
    "PeerRun",
    "PeerText",
    "Prompt",
    "Runner",
    "beside",
    "drafts_table",
    "from_record",
    "plain_of",
    "read_asked",
    "read_prompts",
    "read_stacks",
    "sampled",
    "summary",
    "sweep",
    "table",
    "whole",
    "with_plain",
]
