"""The rules: how a verifier decides which drafted tokens to keep, as stacks and the page name them."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """A rule.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it.
        function: "module:name" of a function like `hsd_core.engine.rules.tokenwise`. It runs in the engine, above this
            room, and is looked up when a run begins, so that whoever reads a stack needs no torch.
        lossless: above temperature 0, what it emits follows the rows that go up.
        greedy: at temperature 0 and with k = 1 it decides as the rule greedy does.
        trees: it judges several sequences side by side, not one alone.
        k: it judges by the verifier's k likeliest tokens, and is given k and the logits.
    """

    name: str
    order: int
    words: str
    function: str
    lossless: bool
    greedy: bool = True
    trees: bool = True
    k: bool = False

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        return pkgutil.resolve_name(self.function)  # type: ignore[no-any-return]


RULES = (
    RuleKind(
        name="tokenwise",
        order=10,
        words="tokenwise · keep a token with probability min(1, p/q)",
        function="hsd_core.engine.rules:tokenwise",
        lossless=True,
    ),
    RuleKind(
        name="block",
        order=20,
        words="block · weigh the whole block at once",
        function="hsd_core.engine.rules:block",
        lossless=True,
        trees=False,
    ),
    RuleKind(
        name="greedy",
        order=30,
        words="greedy · keep what equals the first choice",
        function="hsd_core.engine.rules:greedy",
        lossless=False,
    ),
    RuleKind(
        name="top",
        order=40,
        words="top · keep what is among the first k choices",
        function="hsd_core.engine.rules:top",
        lossless=False,
        k=True,
    ),
)
