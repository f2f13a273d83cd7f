"""What a rule says of itself: how a verifier decides which drafted tokens to keep, as stacks and the page name it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hsd_core.grammar.key import Key, Value, settled


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """A rule.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it. in_names: in names of stacks.
        function: "module:name" of a function like `hsd_core.core.rules.tokenwise`. It runs in the engine, above this
            room, and is looked up when a run begins, so that whoever reads a stack needs no torch. It is given the
            values of the rule's keys by name.
        keys: its own, which every level that has a rule heeds; given beside another rule they are refused.
        lossless: above temperature 0, what it emits follows the rows that go up.
        strays: what a target with these values of the keys does at temperature 0 instead of committing its own first
            choices, in words; "" where it does commit them. None: with any values it decides as the rule greedy does.
        trees: it judges several candidates side by side, not one alone.
        one_hot: it takes rows of one token (`OneHot`) as they are.
        scores: it is given the verifier's logits too, by that name.
        at_once: it weighs the tokens that it is given against each other, so that how many they are may hang on counts
            and on those before, not on what lies behind them.
        by_place: it judges place by place, each reject leaving its residual: what the best exact rule is measured by.
        rowless: it asks nothing of the rows that tokens were drawn from, so that a schedule may have a drafter name its
            likeliest ones.
    """

    name: str
    order: int
    words: str
    function: str
    lossless: bool
    in_names: str = ""
    keys: tuple[Key[Any], ...] = ()
    strays: Callable[..., str] | None = None
    trees: bool = True
    one_hot: bool = False
    scores: bool = False
    at_once: bool = False
    by_place: bool = False
    rowless: bool = False

    def bind(self, values: Mapping[str, Value]) -> Callable[..., Any]:
        """The function for a level with these values; its keys that are not among them are as they are declared."""
        function: Callable[..., Any] = pkgutil.resolve_name(self.function)
        return partial(function, **settled(self.keys, values))

    def astray(self, values: Mapping[str, Value]) -> str:
        """What a target of these values does at temperature 0 instead of committing its own first choices; "" where it
        does commit them."""
        return self.strays(**settled(self.keys, values)) if self.strays else ""
