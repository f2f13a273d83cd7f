"""What systems declare: kinds of levels as `KINDS`, what a system adds to another one's kinds as `EXTENDS`, rules as
`RULES`, stop policies as `POLICIES`, schedulers as `SCHEDULERS`, forms of trained drafts as `DRAFT_FORMS`, tokenizers
of presets without weights as `TOKENIZERS`, what reads a finished run's text as `AFTER_RUN`, what carries out a
scheduler's orders as `DRIVERS`, by `core/standard.py` and by the file `declaration.py` of every folder of `systems`;
and the keys of them all."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hsd_core.grammar.key import Choice, Key, StackError, Value
from hsd_core.grammar.keys import POLICY, RULE, WITH
from hsd_core.grammar.kind import Kind, Site, Unplanned, WrittenAs
from hsd_core.grammar.strategies import PolicyKind, RuleKind, SchedulerKind
from hsd_core.models.drafts.draft_file import DraftForm

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.tokenizer import TextCodec


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """Further keys of a kind. A system declares it in `EXTENDS`; where the kind is missing, it adds nothing.

    Attributes:
        of: the kind's name.
        keys: the keys; a level that has a value for the first one is built by `build`.
        build: the level, from the function that builds the kind's own.
        help: a sentence behind the kind's help. around: what a level is called with a key, as in `NameForms.around`.
        entry: what it adds to the kind's entries of the catalogue.
        of_target: whether a level with the first key is built for one target.
        first: what has to be made once before a level with the first key runs, as `Placement.first` says it.
        unplanned: why no plan holds a level with the first key; None where plans do.
    """

    of: str
    keys: tuple[Key[Any], ...]
    build: Callable[[LevelSpec, Site, Callable[[LevelSpec, Site], Any]], Any]
    help: str
    around: Mapping[str, str] = field(default_factory=dict)
    entry: Callable[[Preset], dict[str, Any]] = field(default=lambda preset: {})
    of_target: bool = False
    first: Callable[[Preset], str] = field(default=lambda preset: "")
    unplanned: Unplanned | None = None


def extended(kind: Kind, extensions: Sequence[Extension]) -> Kind:
    """The kind with all that extends it."""
    for one in extensions:
        if one.of == kind.name:
            kind = _with(kind, one)
    return kind


def _with(kind: Kind, own: Extension) -> Kind:
    text, placement, shares, planning = kind.text, kind.placement, kind.shares, kind.planning

    def asked(spec: LevelSpec) -> bool:
        return spec.get(own.keys[0]) is not None

    def offer(of: Kind, preset: Preset) -> Sequence[dict[str, Any]]:
        return [entry | own.entry(preset) for entry in kind.offer(of, preset)]

    def build(spec: LevelSpec, site: Site) -> Any:
        return own.build(spec, site, kind.build) if asked(spec) else kind.build(spec, site)

    def of_target(spec: LevelSpec) -> bool:
        return shares.of_target(spec) or (own.of_target and asked(spec))

    def first(spec: LevelSpec, preset: Preset) -> str:
        return placement.first(spec, preset) or (own.first(preset) if asked(spec) else "")

    def unplanned(spec: LevelSpec) -> Unplanned | None:
        return planning.unplanned(spec) or (own.unplanned if asked(spec) else None)

    forms = text.in_names._replace(around={**text.in_names.around, **own.around})
    return replace(
        kind,
        keys=(*kind.keys, *own.keys),
        text=text._replace(help=f"{text.help} {own.help}", in_names=forms),
        placement=placement._replace(first=first),
        shares=shares._replace(of_target=of_target),
        planning=planning._replace(unplanned=unplanned),
        offer=offer,
        build=build,
    )


# In what a kind may have a key otherwise than others have it: a policy's threshold counts beside that policy alone.
OF_ITS_OWN = ("usual", "usuals", "when", "tip", "tips", "known")
STANDARD, SYSTEMS = "hsd_core.core.standard", "hsd_core.systems"  # where they are declared


class _Registry(NamedTuple):
    kinds: Mapping[str, Kind]
    variants: Sequence[tuple[Kind, WrittenAs]]
    keys: Mapping[str, Key[Any]]
    rules: Mapping[str, RuleKind]
    policies: Mapping[str, PolicyKind]
    schedulers: Mapping[str, SchedulerKind]
    behind: Mapping[str, tuple[Key[Any], ...]]
    usual: Mapping[str, Mapping[str, Value]]
    tokenizers: Mapping[str, Callable[[], TextCodec]]
    after_run: Mapping[str, str]
    drivers: Mapping[str, str]
    drafts: Sequence[DraftForm]


def kinds() -> Mapping[str, Kind]:
    """All kinds by name, in the order in which they are listed. Among the keys of each are those of policies and rules,
    if it heeds a policy, a rule."""
    return _here().kinds


def variants() -> Sequence[tuple[Kind, WrittenAs]]:
    """The kinds that are written as another one."""
    return _here().variants


def keys() -> Mapping[str, Key[Any]]:
    """All keys of the grammar by name, in the order in which they are written."""
    return _here().keys


def rules() -> Mapping[str, RuleKind]:
    """All rules by name, in the order in which they are listed."""
    return _here().rules


def policies() -> Mapping[str, PolicyKind]:
    """All stop policies by name, in the order in which they are listed."""
    return _here().policies


def schedulers() -> Mapping[str, SchedulerKind]:
    """All schedulers by name, in the order in which they are listed."""
    return _here().schedulers


def draft_forms() -> Sequence[DraftForm]:
    """The forms of trained drafts that systems open."""
    return _here().drafts


def tokenizer_of(preset: Preset) -> TextCodec:
    """The tokenizer of a preset without weights, by what its levels are made of (`Preset.has`).

    Raises:
        StackError: none is declared.
    """
    for has, make in _here().tokenizers.items():
        if has in preset.has:
            return make()
    raise StackError(f"preset {preset.name} has no tokenizer here; {', '.join(sorted(preset.has))} have none declared")


def after_run(name: str) -> Callable[..., Any]:
    """What reads a run's text when the run is over: "depths".

    Raises:
        StackError: nothing of this name is declared.
    """
    declared = _here().after_run
    if name not in declared:
        raise StackError(f"nothing here reads {name} of a run; leave it out")
    return cast("Callable[..., Any]", pkgutil.resolve_name(declared[name]))


def driver_named(name: str) -> Any:
    """What makes a driver (a `core.driver.MakeDriver`) that carries out a scheduler's orders.

    Raises:
        StackError: nothing of this name is declared.
    """
    declared = _here().drivers
    if name not in declared:
        raise StackError(f"no driver {name!r} is declared; there are {', '.join(declared) or 'none'}")
    return pkgutil.resolve_name(declared[name])


def key_of(kind: str, name: str) -> Key[Any]:
    """A key as levels of a kind read and write it: as all do, but for a kind that takes values of another type."""
    shared = keys()[name]
    own = next((key for key in kinds()[kind].keys if key.name == name), shared)
    return shared if type(own) is type(shared) else own


def followed(some: Iterable[Key[Any]]) -> tuple[Key[Any], ...]:
    """These keys; behind the ones that name a policy, a rule and a scheduler, the keys that those have of their own."""
    return _followed(some, _here().behind)


def usual_of(kind: str) -> Mapping[str, Value]:
    """What a level of this kind has for a key without being given any: as the kind declares it, else as the others do;
    not of the keys of policies, rules and schedulers, of which it hangs on the one that is chosen."""
    return _here().usual[kind]


def _here() -> _Registry:
    # Asked several times a round: a room that is imported is not imported again.
    room = sys.modules.get(SYSTEMS) or importlib.import_module(SYSTEMS)
    return _registry(tuple(room.__path__))


@lru_cache(maxsize=2)
def _registry(path: tuple[str, ...]) -> _Registry:
    modules = _modules(path)
    extensions: list[Extension] = [one for module in modules for one in getattr(module, "EXTENDS", ())]
    declared: list[Kind] = [extended(kind, extensions) for kind in _declared(modules, "KINDS")]
    rules: list[RuleKind] = _declared(modules, "RULES")
    policies: list[PolicyKind] = _declared(modules, "POLICIES")
    schedulers: list[SchedulerKind] = _declared(modules, "SCHEDULERS")
    chosen_among = ((RULE, rules), (POLICY, policies), (WITH, schedulers))
    behind = {choice.name: _of_several(choice, some) for choice, some in chosen_among}
    found: dict[str, Key[Any]] = {key.name: key for some in behind.values() for key in some}
    for kind in declared:
        for key in kind.keys:
            if type(known := found.get(key.name, key)) is type(key):  # else see `key_of`
                found[key.name] = _shared(kind.name, known, key, OF_ITS_OWN)
    found.update({choice.name: _of_those(choice, some) for choice, some in chosen_among})
    variants = [(kind, kind.written) for kind in declared if kind.written]
    for _, own in variants:  # its value is one of the other kind's key
        shared = found[own.key]
        assert isinstance(shared, Choice)
        choices, words = (*shared.choices, own.value), {**shared.words, own.value: own.words}
        found[own.key] = replace(shared, choices=choices, words=words)
    chosen = {key.name for some in behind.values() for key in some}
    usual = {name: key.usual for name, key in found.items() if key.usual is not None and name not in chosen}
    ordered = sorted(found.items(), key=lambda one: one[1].place)
    return _Registry(
        MappingProxyType({one.name: replace(one, keys=_followed(one.keys, behind)) for one in declared}),
        variants,
        MappingProxyType(dict(ordered)),
        MappingProxyType({one.name: one for one in rules}),
        MappingProxyType({one.name: one for one in policies}),
        MappingProxyType({one.name: one for one in schedulers}),
        behind,
        {one.name: usual | {key.name: key.usual for key in one.keys if key.usual is not None} for one in declared},
        _by_name(modules, "TOKENIZERS"),
        _by_name(modules, "AFTER_RUN"),
        _by_name(modules, "DRIVERS"),
        [one for module in modules for one in getattr(module, "DRAFT_FORMS", ())],
    )


def plugins(file: str) -> list[ModuleType]:
    """What the folders of systems bring along under this name: a `command`, a `study`; in the order of the folders."""
    here = importlib.import_module(SYSTEMS).__path__
    named = [one.name for one in pkgutil.iter_modules(here) if one.ispkg]
    found = [name for name in named if any((Path(room) / name / f"{file}.py").is_file() for room in here)]
    return [importlib.import_module(f"{SYSTEMS}.{name}.{file}") for name in found]


def _modules(path: tuple[str, ...]) -> list[ModuleType]:
    """What declares: the standard, the declaration of every folder of systems, and files that stand beside them."""
    found = [f"{SYSTEMS}.{one.name}" + (".declaration" if one.ispkg else "") for one in pkgutil.iter_modules(path)]
    return [importlib.import_module(name) for name in (STANDARD, *found)]


def _declared(modules: Sequence[ModuleType], what: str) -> list[Any]:
    return sorted((one for module in modules for one in getattr(module, what, ())), key=lambda one: one.order)


def _by_name(modules: Sequence[ModuleType], what: str) -> Mapping[str, Any]:
    return {name: one for module in modules for name, one in getattr(module, what, {}).items()}


def _of_those(choice: Choice, some: Sequence[RuleKind | PolicyKind | SchedulerKind]) -> Choice:
    words, terms = {one.name: one.words for one in some}, {one.name: one.in_names or one.name for one in some}
    inner = tuple(one.name for one in some if isinstance(one, SchedulerKind) and (one.inner or one.make is None))
    return replace(choice, choices=tuple(words), words=words, terms=terms, inner=inner)


def _followed(some: Iterable[Key[Any]], behind: Mapping[str, tuple[Key[Any], ...]]) -> tuple[Key[Any], ...]:
    return tuple(own for key in some for own in (key, *behind.get(key.name, ())))


def _shared(name: str, one: Key[Any], other: Key[Any], but: Sequence[str] = ("usual",)) -> Key[Any]:
    """The key that two declare; what it is without being given any is nothing that they share where they differ."""
    plain = {field: getattr(one, field) for field in but if hasattr(one, field)}
    assert replace(other, **plain) == one, f"{name}: @{one.name} means something else elsewhere"
    return one if one.usual == other.usual else replace(one, usual=None)


def _of_several(choice: Key[Any], some: Sequence[RuleKind | PolicyKind | SchedulerKind]) -> tuple[Key[Any], ...]:
    """The keys that rules, policies or schedulers declare, and for each with which of them it counts, and how."""
    found: dict[str, dict[str, Key[Any]]] = {}
    for one in some:
        for key in one.keys:
            found.setdefault(key.name, {})[one.name] = key
    return tuple(_counting(choice, own) for own in found.values())


def _counting(choice: Key[Any], own: Mapping[str, Key[Any]]) -> Key[Any]:
    first = next(iter(own.values()))
    for name, key in own.items():
        _shared(name, first, key, but=("usual", "tip"))
    usuals = {name: key.write(key.usual) for name, key in own.items() if key.usual is not None}
    tips = {name: key.tip for name, key in own.items()}
    return replace(
        first,
        when=(choice.name, tuple(own)),
        usuals=usuals if len(set(usuals.values())) > 1 else {},
        tips=tips if len(set(tips.values())) > 1 else {},
    )
