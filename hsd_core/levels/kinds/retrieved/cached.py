"""The draft that looks in a cache of what the target's store returned (RaLMSpec)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.keys import VERIFIES
from hsd_core.levels.declared.kind import GREEN, Kind, Reads, Site
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds.retrieved.store_keys import OF_STORE, mixing_of

if TYPE_CHECKING:
    from hsd_core.levels.built.retrieved.stored import CachedLevel
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    reason = preset.whole or ("" if preset.text_db else "there is no text to make a store of for this tokenizer")
    return [kind.entry(kind.title, reason=reason)]


def build(spec: LevelSpec, site: Site) -> CachedLevel:
    from hsd_core.levels.built.retrieved.stored import CachedLevel

    decoder = site.layered(spec)
    return CachedLevel(
        decoder,
        site.store(spec, decoder),
        mixing_of(spec),
        kind=spec.name,
        label="the target and a cache of its store",
        weights=site.preset.target.as_dict(site.folder),
    )


KINDS = (
    Kind(
        name="cached",
        order=66,
        title="cache of the store",
        about="The target\u2019s own layers, with what its store has returned so far in place of the store.",
        help="It runs all layers of the target, so that one query of the store verifies its tokens together "
        "(RaLMSpec). It stands below target@knn=store.",
        letter="C",
        colour=GREEN,
        underline="dashed",
        keys=VERIFIES,
        block=4,
        needs=frozenset({"weights"}),
        reads=Reads(),
        of_target=lambda spec: True,
        follows=OF_STORE,
        named=True,
        offer=offer,
        build=build,
        said=Said(("a cache of the store",)),
    ),
)
