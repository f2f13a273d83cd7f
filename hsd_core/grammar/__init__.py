"""How a stack is written, and how systems declare what it is made of: kinds of levels, keys, rules, stop policies,
schedulers. Nothing here, and nothing that asks here, knows one of them by name.

    key.py, keys.py      what a key is; the keys that several kinds have
    kind.py              what a kind of level declares; strategies.py: a rule, a stop policy, a scheduler
    registry.py          all that is declared, and what a system adds to another system's kind
    spec.py              one level as written: the values it was given, and those that are declared
    stack_text.py        reading and writing a stack; placing.py: where a level may stand
    stack_names.py       what a stack is called in words
    preset.py            a family of models with one tokenizer

Importing this package imports no torch; what runs is imported where a level is built.
"""

from __future__ import annotations

from collections.abc import Sequence

from hsd_core.grammar.key import StackError, Value
from hsd_core.grammar.kind import Kind
from hsd_core.grammar.registry import (
    after_run,
    driver_named,
    followed,
    key_of,
    keys,
    kinds,
    policies,
    rules,
    schedulers,
    tokenizer_of,
    variants,
)
from hsd_core.grammar.spec import (
    LevelSpec,
    fan_of,
    kind_of,
    lanes_of,
    policy_of,
    reads_draft,
    rule_of,
    scheduler_of,
    theta_of,
)

__all__ = [
    "Kind",
    "LevelSpec",
    "StackError",
    "Value",
    "after_run",
    "drawn_as",
    "driver_named",
    "fan_of",
    "followed",
    "key_of",
    "keys",
    "kind_of",
    "kinds",
    "lanes_of",
    "level_letters",
    "policies",
    "policy_of",
    "reads_draft",
    "rule_of",
    "rules",
    "scheduler_of",
    "schedulers",
    "stand_in",
    "theta_of",
    "tokenizer_of",
    "variants",
]


def stand_in(*, last: bool = False, lookup: bool = False) -> Kind:
    """The kind that declares to stand for levels of which no more is known (`Look.stand_in`): for the target, for a
    lookup, or for any other; where none does, the last one in order."""
    wanted = "target" if last else "lookup" if lookup else "level"
    return next((kind for kind in kinds().values() if kind.look.stand_in == wanted), [*kinds().values()][-1])


def drawn_as(kind: str, *, last: bool = False) -> Kind:
    """The kind that a level of a trace is drawn as: its own, or a stand-in for the last level and an unknown kind."""
    return stand_in(last=last) if last else kinds().get(kind, stand_in())


def level_letters(levels: Sequence[str]) -> list[str]:
    """The letters of a trace's levels, cheapest first, numbered where two are the same."""
    letters = [drawn_as(kind, last=i == len(levels) - 1).look.letter for i, kind in enumerate(levels)]
    return [x if letters.count(x) == 1 else f"{x}{letters[: i + 1].count(x)}" for i, x in enumerate(letters)]
