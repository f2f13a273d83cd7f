"""The stop policies, as stacks and the page name them; what they do stands in `hsd_core.levels.policies`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hsd_core.levels.policies import DEFAULT_THETA, Adaptive, Confidence, Fixed, Flush, Margin, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyKind:
    """A stop policy.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it.
        make: one for a level in a run, from the level's theta.
        theta: what theta means to it, for the composer; "" where it has no threshold. usual: its theta, if a level
            gives none.
    """

    name: str
    order: int
    words: str
    make: Callable[[float], Policy]
    theta: str = ""
    usual: float = DEFAULT_THETA


POLICIES = (
    PolicyKind(name="fixed", order=10, words="fixed · always T tokens", make=lambda theta: Fixed()),
    PolicyKind(name="flush", order=20, words="flush · hand up early after a correction", make=lambda theta: Flush()),
    PolicyKind(
        name="confidence",
        order=30,
        words="confidence · stop when unsure",
        make=Confidence,
        theta="stop after a token whose top probability is below θ",
    ),
    PolicyKind(
        name="margin",
        order=35,
        words="margin · stop when two tokens are close",
        make=Margin,
        theta="stop after a token whose two likeliest lie less than θ apart (log p1 − log p2, nats)",
        usual=0.15,
    ),
    PolicyKind(
        name="adaptive",
        order=40,
        words="adaptive · stop when unsure, by a threshold that follows the acceptance",
        make=Adaptive,
        theta="the threshold that it starts with",
    ),
)
