"""Copies of the target in fewer bits: what their keys come to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hsd_core.grammar.stack_text import level_of
from hsd_core.systems.copies import declaration


def test_a_copy_says_the_ids_that_its_key_leaves_it_and_without_one_all(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(declaration, "model_level", lambda *given, head_ids, **named: told.append(head_ids))
    preset, tokenizer = SimpleNamespace(target="", model_db=None), SimpleNamespace(vocab_size=9)
    site: Any = SimpleNamespace(device="cpu", ends={7}, folder=None, preset=preset, tokenizer=tokenizer)
    for text in ("int8:2@vocab=3", "int4:2@vocab=1", "int8:2"):
        declaration.build(level_of(text), site)
    assert told == [[0, 1, 2, 7], [0, 7], None]
