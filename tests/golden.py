"""The golden cases of the grammar, `grammar.json`, which tests/app/js/grammar.test.mjs reads too: a text, and the
levels that it stands for or the words that it is refused with. Lists in those words are of what is declared now:
`{levels}`, `{keys}`, `{keys of ngram}`, `{choices of policy}`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hsd_core.grammar import LevelSpec, StackError, keys, kinds
from hsd_core.grammar.stack_text import format_stack, level_names, parse

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "grammar.json").read_text(encoding="utf-8"))


def check(case: dict[str, Any]) -> None:
    """A case is read or refused as it says."""
    if "error" in case:
        with pytest.raises(StackError) as caught:
            parse(case["text"])
        assert str(caught.value) == re.sub(r"\{(\w+)(?: of (\w+))?\}", _listed, case["error"])
        return
    found = parse(case["text"])
    assert format_stack(found) == case["written"]
    assert [_said(spec, level) for spec, level in zip(found, case["levels"], strict=True)] == case["levels"]


def _said(spec: LevelSpec, asked: dict[str, Any]) -> dict[str, Any]:
    """What a level has for what a case says of it, and whatever else it was given."""
    named = {key for key in asked if key not in ("name", "block")} | set(spec.values)
    own = {"name": spec.name, **({} if spec.block is None else {"block": spec.block})}
    return own | {key: spec[keys()[key]] for key in named}


def _listed(found: re.Match[str]) -> str:
    what, of = found.groups()
    if what == "levels":
        return ", ".join(level_names())
    if what == "choices":
        return ", ".join(keys()[of].choices)
    return ", ".join(key.name for key in kinds()[of].keys) if of else ", ".join(keys())
