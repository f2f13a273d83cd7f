"""Everything that systems declare, and the keys of all of it.

`core/standard.py` and the file `declaration.py` of every folder of `systems` may declare: `KINDS` of levels; `EXTENDS`,
keys for another system's kinds; `RULES`; stop `POLICIES`; `SCHEDULERS` and the `DRIVERS` that carry out their orders;
`DRAFT_FORMS`, formats of trained drafts; `TOKENIZERS` of presets without weights; `AFTER_RUN`, functions that read the
text of a finished run.
"""

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
    """More keys for a kind. A system declares it in `EXTENDS`; it has no effect if the kind is missing.

    Attributes:
        of: the kind's name.
        keys: the keys; a level with a value for the first one, other than 0, is built by `build`.
        build: makes the level; its last argument is the kind's own `build`.
        help: a sentence after the kind's help. around: texts around a level's name, as in `NameForms.around`.
        entry: fields to add to the kind's entries in the catalogue.
        of_target: whether a level with the first key works for one target only.
        first: what has to be made once before a level with the first key runs, as in `Placement.first`.
        unplanned: why plans leave out a level with the first key; None if they do not.
        strays: as `Planning.strays`, of a target with the first key; what it approximates has none of the keys.
        of_drafts: whether the keys do nothing where nothing was drafted, so that plain decoding has none of them.
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
    strays: Callable[[LevelSpec], str] = lambda spec: ""
    of_drafts: bool = False


def extended(kind: Kind, extensions: Sequence[Extension]) -> Kind:
    """The kind with all its extensions."""
    for one in extensions:
        if one.of == kind.name:
            kind = _with(kind, one)
    return kind


def _with(kind: Kind, own: Extension) -> Kind:
    text, placement, shares, planning = kind.text, kind.placement, kind.shares, kind.planning

    def asked(spec: LevelSpec) -> bool:
        return spec.get(own.keys[0]) not in (None, 0)

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

    def strays(spec: LevelSpec) -> str:
        return planning.strays(spec) or (own.strays(spec) if asked(spec) else "")

    def plain(spec: LevelSpec) -> LevelSpec:
        plainer = own.of_drafts or own.strays(spec)
        return planning.plain(spec.having(**{key.name: None for key in own.keys}) if plainer else spec)

    forms = text.in_names._replace(around={**text.in_names.around, **own.around})
    return replace(
        kind,
        keys=(*kind.keys, *own.keys),
        text=text._replace(help=f"{text.help} {own.help}", in_names=forms),
        placement=placement._replace(first=first),
        shares=shares._replace(of_target=of_target),
        planning=planning._replace(unplanned=unplanned, strays=strays, plain=plain),
        offer=offer,
        build=build,
    )


# Fields of a key that may differ from kind to kind; all others have to be equal wherever the key is declared.
FIELDS_BY_KIND = ("usual", "usuals", "when", "tip", "tips", "known")
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
    """All kinds by name, in the order of lists. A kind with a policy or a rule has the keys of all policies or rules
    too."""
    return _here().kinds


def variants() -> Sequence[tuple[Kind, WrittenAs]]:
    """The kinds that are written as another kind, and how."""
    return _here().variants


def keys() -> Mapping[str, Key[Any]]:
    """All keys of the grammar by name, in the order of writing."""
    return _here().keys


def rules() -> Mapping[str, RuleKind]:
    """All rules by name, in the order of lists."""
    return _here().rules


def policies() -> Mapping[str, PolicyKind]:
    """All stop policies by name, in the order of lists."""
    return _here().policies


def schedulers() -> Mapping[str, SchedulerKind]:
    """All schedulers by name, in the order of lists."""
    return _here().schedulers


def draft_forms() -> Sequence[DraftForm]:
    """The formats of trained drafts that systems can open."""
    return _here().drafts


def tokenizer_of(preset: Preset) -> TextCodec:
    """The tokenizer of a preset without weights, chosen by `Preset.has`.

    Raises:
        StackError: none is declared.
    """
    for has, make in _here().tokenizers.items():
        if has in preset.has:
            return make()
    raise StackError(f"preset {preset.name} has no tokenizer here; {', '.join(sorted(preset.has))} have none declared")


def after_run(name: str) -> Callable[..., Any]:
    """The function of this name, such as "depths", that reads the text of a finished run.

    Raises:
        StackError: no such function is declared.
    """
    declared = _here().after_run
    if name not in declared:
        raise StackError(f"nothing here reads {name} of a run; leave it out")
    return cast("Callable[..., Any]", pkgutil.resolve_name(declared[name]))


def reads_after_run(name: str) -> bool:
    """Whether such a function is declared."""
    return name in _here().after_run


def driver_named(name: str) -> Any:
    """The `core.driver.MakeDriver` of this name, whose driver carries out a scheduler's orders.

    Raises:
        StackError: no such driver is declared.
    """
    declared = _here().drivers
    if name not in declared:
        raise StackError(f"no driver {name!r} is declared; there are {', '.join(declared) or 'none'}")
    return pkgutil.resolve_name(declared[name])


def key_of(kind: str, name: str) -> Key[Any]:
    """A key as a kind reads and writes it: the shared key, unless the kind's values have another type."""
    shared = keys()[name]
    own = next((key for key in kinds()[kind].keys if key.name == name), shared)
    return shared if type(own) is type(shared) else own


def followed(some: Iterable[Key[Any]]) -> tuple[Key[Any], ...]:
    """These keys; each key that names a policy, a rule or a scheduler is followed by the keys of those."""
    return _followed(some, _here().behind)


def usual_of(kind: str) -> Mapping[str, Value]:
    """The defaults of a kind's keys by name, without the keys of policies, rules and schedulers, whose defaults depend
    on which of those is chosen."""
    return _here().usual[kind]


def _here() -> _Registry:
    # Called several times a round, so no import statement for a package that is already imported.
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
                found[key.name] = _shared(kind.name, known, key, FIELDS_BY_KIND)
    found.update({choice.name: _of_those(choice, some) for choice, some in chosen_among})
    variants = [(kind, kind.written) for kind in declared if kind.written]
    for _, own in variants:  # its value becomes a choice of the other kind's key
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
    """The modules of this name in the folders of systems, such as `command` or `study`, in the folders' order."""
    here = importlib.import_module(SYSTEMS).__path__
    named = [one.name for one in pkgutil.iter_modules(here) if one.ispkg]
    found = [name for name in named if any((Path(room) / name / f"{file}.py").is_file() for room in here)]
    return [importlib.import_module(f"{SYSTEMS}.{name}.{file}") for name in found]


def _modules(path: tuple[str, ...]) -> list[ModuleType]:
    """The modules with declarations: the standard, those of all systems, and single files in `systems`."""
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
    """The key that two kinds declare, without a default if theirs differ."""
    plain = {field: getattr(one, field) for field in but if hasattr(one, field)}
    assert replace(other, **plain) == one, f"{name}: @{one.name} means something else elsewhere"
    return one if one.usual == other.usual else replace(one, usual=None)


def _of_several(choice: Key[Any], some: Sequence[RuleKind | PolicyKind | SchedulerKind]) -> tuple[Key[Any], ...]:
    """The keys of rules, policies or schedulers, each with those at which it has an effect."""
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
