"""The target: the last level, whose distribution the output follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.keys import DEVICE, DTYPE, ID, VERIFIES
from hsd_core.levels.declared.kind import BLUE, LAST, Kind, Reads, Site
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds.model import decoded
from hsd_core.levels.kinds.retrieved.store_keys import KNN, OF_STORE, mixing_of
from hsd_core.models.machine import has_cuda

if TYPE_CHECKING:
    from hsd_core.levels.built.retrieved.stored import StoreLevel
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.levels.protocol import Level


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(preset.target.title + (" on the accelerator" if has_cuda() else ""))]


def build(spec: LevelSpec, site: Site) -> Level:
    source, dtype, device = site.of_target(spec.get(ID)), spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    if spec.get(KNN):
        return build_with_store(spec.having(dtype=dtype, device=device), site)
    return decoded(site, source, site.folder, dtype, device, kind=spec.name, label=source.title, feeds=True)


def build_with_store(spec: LevelSpec, site: Site) -> StoreLevel:
    from hsd_core.levels.built.retrieved.stored import StoreLevel

    decoder, source = site.layered(spec), site.preset.target
    store, label = site.store(spec, decoder), f"{source.title} and a store"
    return StoreLevel(decoder, store, mixing_of(spec), kind=spec.name, label=label, weights=source.as_dict(site.folder))


KINDS = (
    Kind(
        name="target",
        order=80,
        title="target",
        about="The last level: its distribution is the output's.",
        help="@dtype=int8 or int4 makes such a copy a target of its own. @id= names any other target: a Hub id, a "
        "folder or a .gguf file. @knn=store mixes its words with what followed like places of a text (kNN-LM), a "
        "distribution of its own; python -m hsd_core knn-store makes the store.",
        letter="T",
        colour=BLUE,
        underline="solid",
        keys=(*VERIFIES, *OF_STORE, DTYPE, DEVICE, ID),
        labelled=("tower",),
        stands=LAST,
        needs=frozenset({"weights"}),
        reads=Reads(),
        offer=offer,
        build=build,
        said=Said(("{dtype} {id}", "{id}", "the {dtype} model", "the model")),
    ),
)
