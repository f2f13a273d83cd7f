"""The declarations of the rules, stop policies and scheduler of HSD itself; the code is in `core/rules.py` and
`core/policies.py`."""

from __future__ import annotations

from hsd_core.core.policies import Confidence, Fixed, Flush, Margin
from hsd_core.grammar.keys import THETA
from hsd_core.grammar.strategies import PolicyKind, RuleKind, SchedulerKind

# A verifier waits for the draft that it judges, and the drafter for the verdict.
SCHEDULERS = (SchedulerKind(name="sync", order=10, words="sync · one level after another"),)

POLICIES = (
    PolicyKind(name="fixed", order=10, words="fixed · always T tokens", make=Fixed, in_names="blocks of full length"),
    PolicyKind(
        name="flush",
        order=20,
        words="flush · hand up early after a correction",
        make=Flush,
        in_names="hands up after a correction",
    ),
    PolicyKind(
        name="confidence",
        order=30,
        words="confidence · stop when uncertain",
        make=Confidence,
        in_names="stops when unsure",
        keys=(THETA.usually(0.6, "stop after a token whose top probability is below θ"),),
    ),
    PolicyKind(
        name="margin",
        order=35,
        words="margin · stop when two tokens are close",
        make=Margin,
        in_names="stops at a close choice",
        keys=(
            THETA.usually(
                0.15, "stop after a token whose two best choices are less than θ apart (log p1 − log p2, nats)"
            ),
        ),
    ),
)

RULES = (
    RuleKind(
        name="tokenwise",
        order=10,
        words="tokenwise · keep a token with probability min(1, p/q)",
        in_names="judges token by token",
        function="hsd_core.core.rules:tokenwise",
        lossless=True,
        one_hot=True,
        by_place=True,
    ),
    RuleKind(
        name="block",
        order=20,
        words="block · weigh the whole block at once",
        in_names="judges whole blocks",
        function="hsd_core.core.rules:block",
        lossless=True,
        trees=False,
        at_once=True,
    ),
    RuleKind(
        name="match",
        order=25,
        words="match · draw a token, and keep the draft that equals it",
        in_names="keeps what it would have drawn",
        function="hsd_core.core.rules:match",
        lossless=True,
        one_hot=True,
        rowless=True,
    ),
    RuleKind(
        name="greedy",
        order=30,
        words="greedy · keep what equals the first choice",
        in_names="keeps its first choices",
        function="hsd_core.core.rules:greedy",
        lossless=False,
        one_hot=True,
    ),
)
