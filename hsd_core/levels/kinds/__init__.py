"""The kinds of levels, the rules and the stop policies: each file beside this one declares some, as `KINDS`, `RULES` or
`POLICIES`, and nothing else knows them by name.

Grammar, catalogue, builder, engine, terminal, figures and the page ask here. To add one, add a file (README.md of
hsd_core shows one of each).

Importing this package imports no torch; what runs is imported where a level is built.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from hsd_core.levels.kinds.keys import POLICY, RULE, THETA, Choice, K, Key
from hsd_core.levels.kinds.kind import Kind, Written
from hsd_core.levels.kinds.policies import PolicyKind
from hsd_core.levels.kinds.rules import RuleKind
from hsd_core.levels.kinds.spec import LevelSpec, StackError, Value
from hsd_core.levels.policies import Policy

__all__ = [
    "Kind",
    "LevelSpec",
    "StackError",
    "fan_of",
    "keys",
    "kind_of",
    "kinds",
    "looks",
    "policies",
    "policy_of",
    "rules",
    "setting",
    "tags",
    "theta_of",
    "variants",
]


class _Registry(NamedTuple):
    kinds: Mapping[str, Kind]
    variants: Sequence[tuple[Kind, Written]]
    keys: Mapping[str, Key]
    rules: Mapping[str, RuleKind]
    policies: Mapping[str, PolicyKind]


def kinds() -> Mapping[str, Kind]:
    """All kinds by name, in the order in which they are listed."""
    return _registry(tuple(__path__)).kinds


def variants() -> Sequence[tuple[Kind, Written]]:
    """The kinds that are written as another one."""
    return _registry(tuple(__path__)).variants


def keys() -> Mapping[str, Key]:
    """All keys of the grammar by name, in the order in which they are written."""
    return _registry(tuple(__path__)).keys


def rules() -> Mapping[str, RuleKind]:
    """All rules by name, in the order in which they are listed."""
    return _registry(tuple(__path__)).rules


def policies() -> Mapping[str, PolicyKind]:
    """All stop policies by name, in the order in which they are listed."""
    return _registry(tuple(__path__)).policies


def setting(spec: LevelSpec, key: str) -> Value | None:
    """What a level has for a key: as it is written, else what its kind has without it."""
    value = spec.value(key)
    return kind_of(spec).usual.get(key) if value is None else value


def fan_of(spec: LevelSpec) -> tuple[Key, int] | None:
    """The key with which a level drafts several sequences side by side, and how many; None for chains."""
    for key in kind_of(spec).keys:
        value = setting(spec, key.name) if key.fans else None
        if value is not None and (count := key.sequences(value)) > 1:
            return key, count
    return None


def theta_of(spec: LevelSpec) -> float | None:
    """The threshold that a level's policy starts with; None where it has none."""
    declared = policies().get(spec.policy)
    return (declared.usual if spec.theta is None else spec.theta) if declared and declared.theta else None


def policy_of(spec: LevelSpec) -> Policy:
    """A fresh stop policy for a level. A kind that is written as a policy ends its drafts itself, T at the latest."""
    written = any(own.key == POLICY.name and own.value == spec.policy for _, own in variants())
    declared = policies()[LevelSpec(spec.name).policy if written else spec.policy]
    return declared.make(declared.usual if spec.theta is None else spec.theta)


def kind_of(spec: LevelSpec) -> Kind:
    """The kind of a level as written."""
    for kind, own in variants():
        if own.name == spec.name and spec.value(own.key) == own.value:
            return kind
    return kinds()[spec.name]


def looks(kind: str, *, last: bool = False) -> Kind:
    """The kind that a level of a trace is drawn as: the last one is the target; one that is not known is a model."""
    return kinds()["target"] if last else kinds().get(kind, kinds()["model"])


def tags(levels: Sequence[str]) -> list[str]:
    """The letters of a trace's levels, cheapest first, numbered where two are the same."""
    letters = [looks(kind, last=i == len(levels) - 1).letter for i, kind in enumerate(levels)]
    return [x if letters.count(x) == 1 else f"{x}{letters[: i + 1].count(x)}" for i, x in enumerate(letters)]


@lru_cache(maxsize=2)
def _registry(path: tuple[str, ...]) -> _Registry:
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(path)]
    declared: list[Kind] = _declared(modules, "KINDS")
    rules: list[RuleKind] = _declared(modules, "RULES")
    policies: list[PolicyKind] = _declared(modules, "POLICIES")
    found: dict[str, Key] = {}
    for kind in declared:
        for key in kind.keys:
            assert found.setdefault(key.name, key) == key, f"{kind.name}: @{key.name} means something else elsewhere"
    named = {one.name: one.words for one in rules}
    found[RULE.name] = replace(RULE, choices=tuple(named), words=named)
    found[K.name] = replace(K, when=(RULE.name, tuple(one.name for one in rules if one.k)))
    named = {one.name: one.words for one in policies}
    found[POLICY.name] = replace(POLICY, choices=tuple(named), words=named)
    tips = {one.name: one.theta for one in policies if one.theta}
    usuals = {one.name: THETA.write(one.usual) for one in policies if one.theta}
    found[THETA.name] = replace(THETA, when=(POLICY.name, tuple(tips)), tips=tips, usuals=usuals)
    variants = [(kind, kind.written) for kind in declared if kind.written]
    for _, own in variants:  # its value is one of the other kind's key
        shared = found[own.key]
        assert isinstance(shared, Choice)
        choices, words = (*shared.choices, own.value), {**shared.words, own.value: own.words}
        found[own.key] = replace(shared, choices=choices, words=words)
    ordered = sorted(found.items(), key=lambda one: one[1].place)
    return _Registry(
        MappingProxyType({one.name: one for one in declared}),
        variants,
        MappingProxyType(dict(ordered)),
        MappingProxyType({one.name: one for one in rules}),
        MappingProxyType({one.name: one for one in policies}),
    )


def _declared(modules: Sequence[ModuleType], what: str) -> list[Any]:
    return sorted((one for module in modules for one in getattr(module, what, ())), key=lambda one: one.order)
