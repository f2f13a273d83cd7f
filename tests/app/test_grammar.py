"""The page's copy of the stack grammar agrees with the engine's where the page writes defaults."""

from __future__ import annotations

import re

from app.static import ASSETS
from hsd_core.policies import DEFAULT_THETA, POLICIES
from hsd_core.stacks import MAX_BLOCK, MAX_LEVELS, RULE_NAMES, LevelSpec

STACK_JS = (ASSETS / "js" / "stack.js").read_text(encoding="utf-8")


def table(name: str) -> dict[str, str]:
    body = re.search(rf"export const {name} = Object\.freeze\(\{{(.*?)\}}\)", STACK_JS, re.DOTALL)
    assert body
    return dict(re.findall(r'(\w+): "?([^",\n]+)', body[1]))


def test_defaults_that_the_page_leaves_out_are_the_engine_s() -> None:
    default = LevelSpec("ngram")
    assert table("DEFAULTS") == {
        "rule": default.rule,
        "policy": default.policy,
        "theta": f"{DEFAULT_THETA:g}",
        "bonus": "1" if default.bonus else "0",
    }


def test_rules_policies_and_limits_are_the_engine_s() -> None:
    assert set(table("RULES")) == set(RULE_NAMES)
    assert set(table("POLICIES")) == set(POLICIES)
    assert f"MAX_BLOCK = {MAX_BLOCK};" in STACK_JS
    assert f"MAX_LEVELS = {MAX_LEVELS};" in STACK_JS
