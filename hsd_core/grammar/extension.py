"""What a system adds to another system's kind of level: keys, and the level that is built where they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import Key
from hsd_core.grammar.kind import Kind, Site, Unplanned

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec


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
