"""The target's own weights as levels below it: quantised, with the attentions of several layers at once, or without
some attentions and MLPs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.key import DRAFTER, StackError, Switch, Text, Whole
from hsd_core.levels.declared.keys import DEVICE, DTYPE, VERIFIES, VOCAB
from hsd_core.levels.declared.kind import GREEN, PURPLE, Kind, Reads, Site
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds.model import decoded

if TYPE_CHECKING:
    from hsd_core.levels.built.self_draft import SelfLevel, SkipLevel
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
    named=True,
    offer=offer,
    build=build_self,
    said=Said(("a self-draft",)),
)


SET = Text(name="set", place=62, counts=DRAFTER, terms={"none": "nothing left out"}, noted="{}")


def offer_skip(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    from hsd_core.drafts.sublayer_sets import shipped_sets

    known = [one.name for one in shipped_sets(preset.name)]
    lacks = f"no set was searched; run python -m hsd_core sets --preset {preset.name}"
    reason = preset.whole or ("" if known else lacks)
    return [kind.entry("layers left out", reason=reason, params={SET.name: known[0]} if known else {}, sets=known)]


def build_skip(spec: LevelSpec, site: Site) -> SkipLevel:
    from hsd_core.drafts.draft_file import fingerprint
    from hsd_core.drafts.sublayer_sets import EMPTY, SetError, found_set
    from hsd_core.levels.built.self_draft import SkipLevel, Sublayered
    from hsd_core.models.lean.sublayers import NONE
    from hsd_core.models.one_pass import Pass

    decoder = site.layered(spec)
    if not isinstance(decoder, Sublayered):
        raise StackError(f"{spec.name}: the target's decoder runs its layers whole; leave the level out")
    named = spec.get(SET)
    try:
        found = found_set(named, site.preset.name, site.file(named) if named else None)
    except SetError as error:
        raise StackError(f"{spec.name}: {error}") from error
    if found and (found.layers != decoder.layers or found.fingerprint != fingerprint(decoder)):
        raise StackError(
            f"{spec.name}: set {found.name} was searched for {found.target}, not for this target; search one of its "
            f"own with python -m hsd_core sets --preset {site.preset.name}, or write @set={EMPTY}"
        )
    without = found.sublayers if found else NONE
    decoder.leaving_out(decoder.new_cache(1), without)(Pass([0]))  # laid out now, not within a run
    weights = site.preset.target.as_dict(site.folder)
    return SkipLevel(decoder, without, called=found.name if found else EMPTY, weights=weights)


SKIP = Kind(
    name="skip",
    order=61,
    title="layers left out",
    about="The target without some of its attentions and MLPs (Draft & Verify).",
    help="@set= names which: a file that python -m hsd_core sets searched for these weights; @set=none leaves nothing "
    "out. Every round begins from the target's own keys and values.",
    letter="S",
    colour=PURPLE,
    underline="dotted",
    keys=(*VERIFIES, SET, DTYPE),
    block=4,
    needs=frozenset({"weights"}),
    reads=Reads(),
    of_target=lambda spec: True,
    named=True,
    offer=offer_skip,
    build=build_skip,
    said=Said(("the model with layers left out",)),
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
    SKIP,
    SELF,
)
