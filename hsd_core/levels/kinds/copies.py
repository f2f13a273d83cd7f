"""The target's own weights as levels below it: quantised, or with the attentions of several layers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.key import DRAFTER, StackError, Switch, Whole
from hsd_core.levels.declared.keys import DEVICE, DTYPE, VERIFIES, VOCAB
from hsd_core.levels.declared.kind import GREEN, PURPLE, Kind, Reads, Site, Unplanned
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds.model import decoded

if TYPE_CHECKING:
    from hsd_core.levels.built.self_draft import SelfLevel
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.levels.protocol import Level


PARALLEL = Whole(
    name="parallel",
    place=60,
    counts=DRAFTER,
    low=1,
    high=8,
    usual=2,
    noted="{} attentions at once",
    tip="how many layers\u2019 attentions read one input at once (EasySpec); 1: the layers in their order",
)
CALIBRATE = Switch(
    name="calibrate",
    place=61,
    counts=DRAFTER,
    usual=True,
    terms={"0": "never calibrated"},
    noted="{}",
    tip="whether every round begins from the keys and values of the layers in their order; without it the draft "
    "drifts away from the target",
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(kind.title, reason=preset.whole)]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.built.trimmed import first_ids
    from hsd_core.models.gpu.tiled_int4 import copy_device

    # It runs beside the target where there is a kernel for it, unless another device is asked for (and refused).
    device = spec.get(DEVICE) or copy_device(spec.name, site.device)
    source, label = site.preset.target, f"{spec.name} copy"
    says = first_ids(spec[VOCAB], site.ends) if spec[VOCAB] else None
    return decoded(site, source, site.folder, spec.name, device, kind=spec.name, label=label, feeds=True, says=says)


def _copy(dtype: str, order: int, block: int, said: str, about: str, where: str) -> Kind:
    return Kind(
        name=dtype,
        order=order,
        title=f"{dtype} copy",
        about=about,
        help=f"{where} A copy can also be a target of its own: target@dtype={dtype}.",
        letter="Q",
        colour=PURPLE,
        underline="double",
        keys=(*VERIFIES, DEVICE, VOCAB),
        block=block,
        needs=frozenset({"weights"}),
        reads=Reads(weights=dtype),
        offer=offer,
        build=build,
        said=Said((said,)),
    )


def build_self(spec: LevelSpec, site: Site) -> SelfLevel:
    from hsd_core.levels.built.self_draft import Grouped, SelfLevel
    from hsd_core.models.one_pass import Pass

    decoder = site.layered(spec)
    if not isinstance(decoder, Grouped):
        raise StackError(f"{spec.name}: the target's decoder does not group its layers; leave the level out")
    decoder.in_groups(decoder.new_cache(1), spec[PARALLEL])(Pass([0]))  # laid out now, not within a run
    weights = site.preset.target.as_dict(site.folder)
    return SelfLevel(decoder, spec[PARALLEL], calibrated=bool(spec[CALIBRATE]), weights=weights)


SELF = Kind(
    name="self",
    order=62,
    title="self-draft",
    about="All of the target's own layers, the attentions of several at once (EasySpec).",
    help="A group of @parallel= layers reads one input, so several devices can share the work. Here one processor does "
    "all of it: such a draft costs as much as the target and cannot pay. @calibrate=0 shows why its keys and values "
    "are renewed in every round.",
    letter="S",
    colour=GREEN,
    underline="dotted",
    keys=(*VERIFIES, PARALLEL, CALIBRATE, DTYPE),
    block=4,
    needs=frozenset({"weights"}),
    reads=Reads(),
    of_target=lambda spec: True,
    unplanned=lambda spec: Unplanned(
        "a self-draft, which costs as much as the target",
        "a self-draft costs as much as the target; calibrate a level that costs less",
    ),
    offer=offer,
    build=build_self,
    said=Said(("a self-draft",)),
)


KINDS = (
    _copy("int8", 40, 6, "an 8-bit copy", "The target's own weights in 8 bits.", "It runs on the CPU."),
    _copy(
        "int4",
        50,
        5,
        "a 4-bit copy",
        "The target's own weights in 4 bits: groups of 32, each with its own 16 steps.",
        "It runs on a GPU of compute capability 8.0 or higher beside the target, else on the CPU.",
    ),
    SELF,
)
