"""The kinds of levels: each file beside this one that has `KINDS` declares some, and nothing else knows them by name.

Grammar, catalogue, builder, terminal, figures and the page ask here. To add a kind, add a file:

    KINDS = (Kind(name="mine", letter="Y", colour=SKY, keys=DRAFTS, build=build, ...),)

Importing this package imports no torch; what runs is imported where a level is built.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from hsd_core.levels.kinds.keys import Choice, Key
from hsd_core.levels.kinds.kind import Kind, Written
from hsd_core.levels.kinds.spec import LevelSpec, StackError

__all__ = ["Kind", "LevelSpec", "StackError", "keys", "kind_of", "kinds", "looks", "tags", "variants"]


class _Registry(NamedTuple):
    kinds: Mapping[str, Kind]
    variants: Sequence[tuple[Kind, Written]]
    keys: Mapping[str, Key]


def kinds() -> Mapping[str, Kind]:
    """All kinds by name, in the order in which they are listed."""
    return _registry(tuple(__path__)).kinds


def variants() -> Sequence[tuple[Kind, Written]]:
    """The kinds that are written as another one."""
    return _registry(tuple(__path__)).variants


def keys() -> Mapping[str, Key]:
    """All keys of the grammar by name, in the order in which they are written."""
    return _registry(tuple(__path__)).keys


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
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(path))
    declared: list[Kind] = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    declared.sort(key=lambda kind: kind.order)
    found: dict[str, Key] = {}
    for kind in declared:
        for key in kind.keys:
            assert found.setdefault(key.name, key) == key, f"{kind.name}: @{key.name} means something else elsewhere"
    variants = [(kind, kind.written) for kind in declared if kind.written]
    for _, own in variants:  # its value is one of the other kind's key
        shared = found[own.key]
        assert isinstance(shared, Choice)
        choices, words = (*shared.choices, own.value), {**shared.words, own.value: own.words}
        found[own.key] = replace(shared, choices=choices, words=words)
    ordered = sorted(found.items(), key=lambda one: one[1].place)
    return _Registry(MappingProxyType({k.name: k for k in declared}), variants, MappingProxyType(dict(ordered)))
