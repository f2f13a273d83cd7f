"""The identities of a trace: an honest one satisfies them, each lie is found out and named."""

from __future__ import annotations

from typing import Any

import pytest
from lies import HONEST, LIES
from small_trace import small_run

from hsd_core.core.events import Prefill
from hsd_core.trace.checks import check


@pytest.mark.parametrize("which", HONEST)
def test_an_honest_trace_satisfies_every_identity(which: str) -> None:
    run = small_run()
    HONEST[which](run)
    assert check(run) == []


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_trace_is_found_out_and_the_lie_is_named(lie: str) -> None:
    run: list[Any] = small_run()
    change, said = LIES[lie]
    change(run)
    assert any(said in found for found in check(run)), check(run)


def test_a_level_that_joins_later_is_prefilled_within_decoding() -> None:
    """Its time is part of the decode time: only the prompt's comes before."""
    run: list[Any] = small_run()
    run.insert(10, Prefill(0, 1, 520, 560, 1))
    assert check(run) == []
