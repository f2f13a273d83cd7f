"""The grammar of stacks, and the declarations of kinds of levels, keys, rules, stop policies and schedulers. Nothing
here knows one of them by name.

    key.py, keys.py      types of keys; the keys that several kinds have
    kind.py              the declaration of a kind of level; strategies.py: of a rule, a stop policy, a scheduler
    registry.py          everything declared, and extensions of another system's kind
    spec.py              one level as written: its given values and its defaults
    stack_text.py        reading and writing a stack; placing.py: checks of positions
    stack_names.py       names of stacks and levels for readers
    preset.py            a family of models with one tokenizer

Importing this package imports no torch; building a level imports what runs.
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
    reads_after_run,
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
    "reads_after_run",
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
    """The kind whose look is used for unknown kinds (`Look.stand_in`): for the target, a lookup, or any other level;
    the last kind in order if none declares it."""
    wanted = "target" if last else "lookup" if lookup else "level"
    return next((kind for kind in kinds().values() if kind.look.stand_in == wanted), [*kinds().values()][-1])


def drawn_as(kind: str, *, last: bool = False) -> Kind:
    """The kind whose look a level of a trace gets: its own, or a stand-in for the target and for unknown kinds."""
    return stand_in(last=last) if last else kinds().get(kind, stand_in())


def level_letters(levels: Sequence[str]) -> list[str]:
    """The letters of a trace's levels, cheapest first, numbered where they are equal."""
    letters = [drawn_as(kind, last=i == len(levels) - 1).look.letter for i, kind in enumerate(levels)]
    return [x if letters.count(x) == 1 else f"{x}{letters[: i + 1].count(x)}" for i, x in enumerate(letters)]
