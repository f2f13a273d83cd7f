"""Two processes with SmolLM2 in them write what plain decoding writes."""

from __future__ import annotations

from typing import Any

import pytest

from hsd_core.pipeline import Pipeline
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import compare

PROMPT = "Name three rivers, and say where each of them ends."


def said(pipeline: Pipeline, stack: str, **asked: Any) -> list[Any]:
    return list(pipeline.run(stack, PROMPT, max_new_tokens=24, heads=2, **asked))


@pytest.fixture(scope="module")
def plain(smollm2: Pipeline) -> list[Any]:
    return said(smollm2, "target")


@pytest.mark.parametrize("schedule", ["pearl", "ahead"])
def test_greedy_text_is_that_of_plain_decoding(smollm2: Pipeline, plain: list[Any], schedule: str) -> None:
    with smollm2.own_lanes():
        for stack in ("int8:4", "ngram:2,int8:4"):
            events = said(smollm2, f"{stack},target@with={schedule}", clock="real")
            assert check(events) == [] and metrics.header_of(events).overlap == "real"
            assert compare(events, plain).holds
