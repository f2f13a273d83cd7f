"""The target: the last level, whose distribution the output follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.keys import DEVICE, DTYPE, ID, VERIFIES
from hsd_core.levels.declared.kind import BLUE, LAST, Kind, Reads, Site
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds.model import decoded
from hsd_core.models.machine import has_cuda

if TYPE_CHECKING:
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.levels.protocol import Level


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(preset.target.title + (" on the accelerator" if has_cuda() else ""))]


def build(spec: LevelSpec, site: Site) -> Level:
    source, dtype, device = site.of_target(spec.get(ID)), spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    return decoded(site, source, site.folder, dtype, device, kind=spec.name, label=source.title, feeds=True)


KINDS = (
    Kind(
        name="target",
        order=80,
        title="target",
        about="The last level: its distribution is the output's.",
        help="@dtype=int8 or int4 makes such a copy a target of its own. @id= names any other target: a Hub id, a "
        "folder or a .gguf file.",
        letter="T",
        colour=BLUE,
        underline="solid",
        keys=(*VERIFIES, DTYPE, DEVICE, ID),
        labelled=("tower",),
        stands=LAST,
        needs=frozenset({"weights"}),
        reads=Reads(),
        offer=offer,
        build=build,
        said=Said(("{dtype} {id}", "{id}", "the {dtype} model", "the model")),
    ),
)
