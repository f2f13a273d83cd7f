"""Two processes with SmolLM2 in them write what plain decoding writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hsd_core.pipeline import Pipeline
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import compare

PROMPT = "Name three rivers, and say where each of them ends."


@pytest.fixture(scope="module")
def in_lanes(smollm2: Pipeline) -> Iterator[Pipeline]:
    """Its two processes read the weights once for all runs."""
    with smollm2.own_lanes():
        yield smollm2


@pytest.mark.parametrize("schedule", ["pearl", "ahead"])
def test_greedy_text_is_that_of_plain_decoding(in_lanes: Pipeline, smollm2_plain: Any, schedule: str) -> None:
    for stack in ("int8:4", "ngram:2,int8:4"):
        events = list(in_lanes.run(f"{stack},target@with={schedule}", PROMPT, max_new_tokens=24, heads=2, clock="real"))
        assert check(events) == [] and metrics.header_of(events).overlap == "real"
        assert compare(events, smollm2_plain(PROMPT, 24)).holds
