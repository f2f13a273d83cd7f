"""The core: types that one can keep in mind, and no paper in them but those that they are about."""

from __future__ import annotations

import inspect

from hsd_core.core.run import run


def test_a_run_takes_a_stack_a_prompt_settings_and_who_watches() -> None:
    assert [*inspect.signature(run).parameters] == ["stack", "prompt_ids", "settings", "watcher"]
