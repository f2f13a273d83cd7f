"""The declarations of rules, stop policies and schedulers.

A rule decides which drafted tokens a verifier keeps, a stop policy when a level hands its block up, a scheduler which
lane starts what. A *lane* runs one request at a time: the verifying level has one, its drafter another. A scheduler
sees counts, never tokens, and cannot drop tokens. So its decisions never depend on the value of a token, and the text
follows the target's distribution under every scheduler.
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
        name: in stacks and traces. order: in lists. words: the composer's text. in_names: in names of stacks.
        function: "module:name" of a function like `hsd_core.core.rules.tokenwise`. It is imported when a run begins, so
            that reading a stack needs no torch. The values of the rule's keys are passed by name.
        keys: its own keys, accepted by every level with a rule and refused together with another rule.
        lossless: above temperature 0, the emitted tokens follow the verifier's distribution, if it does not stray.
        strays: for values of the keys, what a verifier keeps that an exact rule would reject, in words; "" if nothing,
            and at temperature 0 it then equals the rule greedy. None: never anything. Such a rule throws an exact
            rule's coin first and reports its acceptance probability (`trace.conventions.spared`).
        trees: it can judge several candidates for one position.
        one_hot: it accepts rows with a single token (`OneHot`).
        scores: it also takes the verifier's logits, by that name.
        at_once: it weighs the tokens of a block together. The length of the block may depend on counts and on earlier
            tokens, but not on the block's own tokens.
        by_place: it judges position by position, and each reject leaves a residual. The bound on acceptance
            (`models.best_acceptance`) is computed for such rules.
        rowless: it does not use the rows that tokens were drawn from, so a scheduler may take the drafter's likeliest
            tokens.
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
        """The function for a level with these values, and with the defaults of its other keys."""
        function: Callable[..., Any] = pkgutil.resolve_name(self.function)
        return partial(function, **with_defaults(self.keys, values))

    def astray(self, values: Mapping[str, Value]) -> str:
        """What a verifier with these values keeps that an exact rule would reject; "" if nothing."""
        return self.strays(**with_defaults(self.keys, values)) if self.strays else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyKind:
    """A stop policy.

    Attributes:
        name: in stacks and traces. order: in lists. words: the composer's text. in_names: in names of stacks.
        keys: its own keys, accepted by every level with a policy; they have an effect with this policy only.
        make: makes the policy of one level in a run (a `core.policies.Policy`) from the values of its keys by name.
    """

    name: str
    order: int
    words: str
    make: Callable[..., Any]
    in_names: str = ""
    keys: tuple[Key[Any], ...] = ()

    def bind(self, values: Mapping[str, Value]) -> Any:
        """The policy of a level with these values, and with the defaults of its other keys."""
        return self.make(**with_defaults(self.keys, values))


class View(NamedTuple):
    """The state that a scheduler decides by; counts of tokens and states of lanes.

    undecided: drafted tokens after the committed text, submitted or not; without the draft in progress.
    submitted: how many of them the verifier has. drafting, verifying: whether that lane is busy; the verifier is busy
    until its verdict is known. drafted: tokens that arrived since the last verification began. block: the drafter's T.
    room: how many more tokens may be drafted; 0 if the drafted ones end the text. silent: the last draft came back
    empty, and another one after the same text would be empty too. between: the verifier's lane waits for the level
    above to judge what it kept; it takes no work and is not verifying.
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
    """Work for the verifier: judge the first `tokens` undecided tokens, possibly none.

    next: also judge the first token of the draft in progress, with the row after the others, once the drafter's lane
    is idle. The verifier adds a token of its own only if that draft comes back empty or there is none.
    """

    tokens: int
    next: bool = False


class Orders(NamedTuple):
    """Which lanes start now. draft: the most tokens of a draft to start, 0 for none."""

    draft: int = 0
    verify: Submission | None = None


class Scheduler(Protocol):
    """A scheduler of one run."""

    def ended(self, view: View) -> Orders:
        """Called at the start of a round and whenever a lane becomes idle.

        A busy lane may not be given work. If both are idle, at least one has to start. While the verifier works
        without drafted tokens and with `next` unset, nothing may be drafted, because it adds a token of its own.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerKind:
    """The declaration of a scheduler.

    Attributes:
        name: in stacks and traces. order: in lists. words: the composer's text. in_names: in names of stacks.
        keys: its own keys; refused together with another scheduler.
        make: makes the scheduler of one run from the values of its keys by name; None if levels run one at a time.
        by_count: the lanes synchronise, so that counts alone bound how many tokens are verified at once.
        inner: also allowed at a verifier below the last level, where every pair of levels has its own lane.
        driver: the name in `DRIVERS` of the driver that carries out its orders.
        nodes: for a scheduler whose drafter keeps several candidates ready as a tree: the largest number of nodes, from
            the values of its keys and the drafter's T. The drafter is then a single level.
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
        """The scheduler of a run for a verifier with these values, and with the defaults of its other keys."""
        return self.make(**with_defaults(self.keys, values)) if self.make else None

    def most_nodes(self, values: Mapping[str, Value], block: int) -> int:
        """The most candidates that a drafter with block length `block` keeps ready at these values; 0 for chains."""
        return self.nodes(block=block, **with_defaults(self.keys, values)) if self.nodes else 0
