"""What a rule, a stop policy and a scheduler declare, as stacks and the page name them.

A rule decides which drafted tokens a verifier keeps, a stop policy when a level hands up, a scheduler which lane starts
what. A *lane* runs one request at a time: the level that verifies has one, what drafts for it another. A scheduler sees
counts and never tokens, and it cannot drop any, so that no token is kept or dropped for its value: the text follows the
target's distribution whatever it says.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

from hsd_core.grammar.key import Key, Value, with_defaults


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
        return partial(function, **with_defaults(self.keys, values))

    def astray(self, values: Mapping[str, Value]) -> str:
        """What a target of these values does at temperature 0 instead of committing its own first choices; "" where it
        does commit them."""
        return self.strays(**with_defaults(self.keys, values)) if self.strays else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyKind:
    """A stop policy.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it. in_names: in names of stacks.
        keys: its own, which every level that has a policy heeds; they count beside this policy alone.
        make: one for a level in a run (a `core.policies.Policy`), from the values of its keys by name.
    """

    name: str
    order: int
    words: str
    make: Callable[..., Any]
    in_names: str = ""
    keys: tuple[Key[Any], ...] = ()

    def bind(self, values: Mapping[str, Value]) -> Any:
        """One for a level with these values; its keys that are not among them are as they are declared."""
        return self.make(**with_defaults(self.keys, values))


class View(NamedTuple):
    """How things stand.

    undecided: drafted tokens behind the text, with the verifier or not; what is under way does not count.
    submitted: how many of them the verifier was given. drafting, verifying: whether a lane is at work; the verifier is
    until its verdict is known. drafted: tokens that arrived since the last verification began. block: the drafter's T.
    room: how many more tokens may be drafted behind those; 0 where they end the text. silent: a draft behind
    them came back empty; none is made again behind the same text, where all choices have been made. between: the
    verifier's lane is at other work (what it kept is judged above it, or waits there): it is given nothing, and is not
    judging.
    """

    undecided: int
    submitted: int
    drafting: bool
    verifying: bool
    drafted: int
    block: int
    room: int
    silent: bool
    between: bool = False


class Submission(NamedTuple):
    """What the verifier is to do: judge the first `tokens` undecided ones, perhaps none.

    next: judge the first token of the draft under way too, with the row behind those, when the drafter's lane stands.
    A token of its own it adds only where that draft comes back empty, or where it was given none at all.
    """

    tokens: int
    next: bool = False


class Orders(NamedTuple):
    """Which lanes start now. draft: a draft of at most so many tokens, 0 for none."""

    draft: int = 0
    verify: Submission | None = None


class Scheduler(Protocol):
    """One object serves one run."""

    def ended(self, view: View) -> Orders:
        """Asked at the start of a round and whenever a lane has ended what it did.

        A lane that is at work is given nothing. Where both stand one of them has to start. While the verifier works
        with none of the drafter's tokens and `next` unset, nothing may be drafted: its own token stands there.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerKind:
    """A scheduler, as stacks and the page name it.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it. in_names: in names of stacks.
        keys: its own; given beside another scheduler they are refused.
        make: one for a run, from the values of its keys by name; None where levels work one after another.
        by_count: lanes meet, so that what is verified at once is bounded by counts alone.
        inner: it may stand at a verifier below the last level too, where every edge has a lane of its own.
        driver: the name, as declared in `DRIVERS`, of what has its orders carried out.
        nodes: of one that has its drafter keep several candidates ready: from the values of its keys and the drafter's
            T, the most of them that are there at once. Its drafter is one level, which grows them as a tree.
    """

    name: str
    order: int
    words: str
    in_names: str = ""
    keys: tuple[Key[Any], ...] = ()
    make: Callable[..., Scheduler] | None = None
    by_count: bool = True
    inner: bool = False
    driver: str = "overlapped"
    nodes: Callable[..., int] | None = None

    def bind(self, values: Mapping[str, Value]) -> Scheduler | None:
        """One for a run of a verifier with these values; its keys that are not among them are as they are declared."""
        return self.make(**with_defaults(self.keys, values)) if self.make else None

    def most_nodes(self, values: Mapping[str, Value], block: int) -> int:
        """The most candidates that a drafter of this T keeps ready for a verifier with these values; 0 for chains."""
        return self.nodes(block=block, **with_defaults(self.keys, values)) if self.nodes else 0
