"""Levels that run the target's weights in fewer bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.keys import DEVICE, HEAD, VERIFIES
from hsd_core.grammar.kind import PURPLE, Kind, KindText, Look, NameForms, Placement, Reads, Shares, Site
from hsd_core.levels.building import model_level

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(kind.text.title, reason=preset.whole)]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.head_ids import head_ids
    from hsd_core.models.gpu.tiled_int4 import copy_device

    # On the target's device where that has a kernel for it; another device that is asked for is refused there.
    device = spec.get(DEVICE) or copy_device(spec.name, site.device)
    source, label = site.preset.target, f"{spec.name} copy"
    says = head_ids(spec, site)
    return model_level(
        site, source, site.folder, spec.name, device, kind=spec.name, label=label, feeds=True, head_ids=says
    )


def _copy(dtype: str, order: int, block: int, name_form: str, about: str, where: str) -> Kind:
    return Kind(
        name=dtype,
        order=order,
        look=Look("Q", PURPLE, "double"),
        text=KindText(
            title=f"{dtype.removeprefix('int')}-bit copy",
            about=about,
            help=f"{where} A copy can also be a target of its own: target@dtype={dtype}.",
            in_names=NameForms((name_form,)),
        ),
        keys=(*VERIFIES, DEVICE, *HEAD),
        placement=Placement(block=block, needs=frozenset({"weights"})),
        shares=Shares(reads=Reads(weights=dtype)),
        offer=offer,
        build=build,
    )


KINDS = (
    _copy("int8", 40, 6, "[an ]8-bit copy", "The target's own weights in 8 bits.", "It runs on the CPU."),
    _copy(
        "int4",
        50,
        5,
        "[a ]4-bit copy",
        "The target's own weights in 4 bits: groups of 32, each with its own 16 steps.",
        "It runs on a GPU of compute capability 8.0 or higher beside the target, else on the CPU.",
    ),
)
