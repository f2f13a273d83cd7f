"""A level as written in a stack: its given values, and the defaults of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hsd_core.grammar.key import Key, StackError, V, Value, with_defaults
from hsd_core.grammar.keys import BONUS, DEVICE, DTYPE, ID, POLICY, RULE, THETA, TREE, WITH
from hsd_core.grammar.kind import Kind
from hsd_core.grammar.registry import kinds, policies, rules, schedulers, usual_of, variants
from hsd_core.grammar.strategies import PolicyKind, RuleKind, SchedulerKind

if TYPE_CHECKING:
    from hsd_core.models.drafts.draft_file import DraftInfo


@dataclass(frozen=True, slots=True)
class LevelSpec:
    """One level as written.

    Attributes:
        block: T; None for the preset's, and for the target.
        values: the given values by key, without those equal to the defaults, so that equal levels are equal specs.
    """

    name: str
    block: int | None = None
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)
    _found: dict[str, Value | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        usual = usual_of(kind_of(self).name)
        given = {key: value for key, value in self.values.items() if value != usual.get(key)}
        object.__setattr__(self, "values", MappingProxyType(given))

    def __getitem__(self, key: Key[V]) -> V:
        """The value for a key: the given one, else the default of its kind, policy, rule or scheduler.

        Raises:
            StackError: there is neither.
        """
        value = self.get(key)
        if value is None:
            raise StackError(f"{self.name}: @{key.name}= is missing")
        return value

    def get(self, key: Key[V]) -> V | None:
        """The value for a key; None if it was not given and there is no default."""
        if key.name not in self._found:  # a run reads it several times a round
            self._found[key.name] = self._find(key.name)
        value = self._found[key.name]
        return key.usual if value is None else cast(V, value)

    def having(self, **values: Value | None) -> LevelSpec:
        """The same level with other values; None removes one."""
        return replace(self, values={key: x for key, x in {**self.values, **values}.items() if x is not None})

    @property
    def policy(self) -> str:
        return self[POLICY]

    @property
    def rule(self) -> str:
        return self[RULE]

    @property
    def bonus(self) -> bool:
        return bool(self[BONUS])

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of children of a node, by depth; () for chains."""
        return tuple(int(part) for part in (self.get(TREE) or "").split(".") if part)

    def _find(self, name: str) -> Value | None:
        for known in (self.values, usual_of(kind_of(self).name)):
            if known.get(name) is not None:
                return known[name]
        if name in (POLICY.name, RULE.name, WITH.name):
            return None
        chosen = (policy_of(self).keys, rule_of(self).keys, scheduler_of(self).keys)
        return next((key.usual for some in reversed(chosen) for key in some if key.name == name), None)


def kind_of(spec: LevelSpec) -> Kind:
    """The kind of a level as written."""
    for kind, own in variants():
        if own.name == spec.name and spec.values.get(own.key) == own.value:
            return kind
    return kinds()[spec.name]


def as_target(spec: LevelSpec) -> LevelSpec:
    """The plain target with a level's weights, dtype and device."""
    kept = {key.name: spec.values.get(key.name) for key in (DTYPE, DEVICE, ID)}
    return LevelSpec("target").having(**kept)


def grows_by_itself(spec: LevelSpec) -> bool:
    """Whether the tree of `@grow=` is a lookup's own: counted like several candidates, not made of rows."""
    return bool(spec.values.get("grow") and kind_of(spec).lookup.origins)


def reads_draft(spec: LevelSpec, draft: DraftInfo) -> bool:
    """Whether a level uses a trained draft."""
    values = kind_of(spec).shares.draft(draft)
    return values is not None and all(spec.values.get(key) == value for key, value in values.items())


def rule_of(spec: LevelSpec) -> RuleKind:
    return rules()[spec.rule]


def scheduler_of(spec: LevelSpec) -> SchedulerKind:
    return schedulers()[spec[WITH]]


def lanes_of(specs: Sequence[LevelSpec]) -> tuple[int, ...]:
    """The lane of each level of a stack, counted from the bottom; a level with a scheduler begins a new lane."""
    return tuple(accumulate(int(scheduler_of(spec).make is not None) for spec in specs))


def policy_of(spec: LevelSpec) -> PolicyKind:
    """A level's stop policy; `fixed` for a kind that is written as a policy, which ends its drafts itself."""
    return policies().get(spec.policy) or policies()[str(POLICY.usual)]


def theta_of(spec: LevelSpec) -> float | None:
    """The initial threshold of a level's policy; None if it has none."""
    return with_defaults(policy_of(spec).keys, spec.values).get(THETA.name)


def fan_of(spec: LevelSpec) -> tuple[Key[Any], int] | None:
    """The key by which a level drafts several candidate sequences, and how many; None for chains."""
    for key in kind_of(spec).keys:
        value = spec.get(key) if key.fans else None
        if value is not None and (count := key.sequences(value)) > 1:
            return key, count
    return None
