"""The stop policies, as stacks and the page name them; what they do stands in `hsd_core.levels.policies`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.levels.declared.key import DRAFTER, Key, Share, Value, settled
from hsd_core.levels.declared.keys import THETA
from hsd_core.levels.policies import Adaptive, Confidence, Fixed, Flush, Margin, Policy, Spaced


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyKind:
    """A stop policy.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it. said: in names of stacks.
        keys: its own, which every level that has a policy heeds; they count beside this policy alone.
        make: one for a level in a run, from the values of its keys by name.
    """

    name: str
    order: int
    words: str
    make: Callable[..., Policy]
    said: str = ""
    keys: tuple[Key[Any], ...] = ()

    def bind(self, values: Mapping[str, Value]) -> Policy:
        """One for a level with these values; its keys that are not among them are as they are declared."""
        return self.make(**settled(self.keys, values))


POLICIES = (
    PolicyKind(name="fixed", order=10, words="fixed · always T tokens", make=Fixed, said="blocks of full length"),
    PolicyKind(
        name="flush",
        order=20,
        words="flush · hand up early after a correction",
        make=Flush,
        said="hands up after a correction",
    ),
    PolicyKind(
        name="confidence",
        order=30,
        words="confidence · stop when uncertain",
        make=Confidence,
        said="stops when unsure",
        keys=(THETA.usually(0.6, "stop after a token whose top probability is below θ"),),
    ),
    PolicyKind(
        name="margin",
        order=35,
        words="margin · stop when two tokens are close",
        make=Margin,
        said="stops at a close choice",
        keys=(
            THETA.usually(
                0.15, "stop after a token whose two best choices are less than θ apart (log p1 − log p2, nats)"
            ),
        ),
    ),
    PolicyKind(
        name="adaptive",
        order=40,
        words="adaptive · stop when uncertain; the threshold follows the acceptance",
        make=Adaptive,
        said="stops when unsure, adapting",
        keys=(THETA.usually(0.6, "the starting threshold"),),
    ),
    PolicyKind(
        name="os3",
        order=50,
        words="os3 · as many as one query of a store pays for",
        make=Spaced,
        said="stops where a query pays",
        keys=(
            Share(
                name="ask",
                place=21,
                counts=DRAFTER,
                usual=0.5,
                label="query",
                noted="a query is {} of a step",
                tip="what one query of the store takes, as a share of a step of this level (OS3); below 2/3 a block "
                "of 1 is the best",
            ),
        ),
    ),
)
