"""The core: types that one can keep in mind, and no paper in them but those that they are about."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from hsd_core.core.level import DraftOrder, Level, Sampler, TreeShape
from hsd_core.core.run import run

MOST = {DraftOrder: 6, Sampler: 5, TreeShape: 3}


@pytest.mark.parametrize("what", MOST)
def test_a_type_has_no_more_fields_than_one_keeps_in_mind(what: type) -> None:
    assert len(fields(what)) <= MOST[what], "what one system says of a draft rides along as a note"


def test_a_run_takes_a_stack_a_prompt_settings_and_who_watches() -> None:
    assert [*inspect.signature(run).parameters] == ["stack", "prompt_ids", "settings", "watcher"]


def test_a_level_has_at_most_eight_members() -> None:
    assert len({*Level.__annotations__} | {name for name in vars(Level) if not name.startswith("_")}) <= 8
