"""A self-draft: all of the target's layers, with the attentions of several layers at once (EasySpec)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, StackError, Switch, Whole
from hsd_core.grammar.keys import DTYPE, VERIFIES
from hsd_core.grammar.kind import GREEN, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.self_draft import SelfLevel

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
    return [kind.entry(kind.text.title, reason=preset.whole)]


def build_self(spec: LevelSpec, site: Site) -> SelfLevel:
    from hsd_core.levels.self_draft import Grouped, SelfLevel
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
    look=Look("S", GREEN, "double"),
    text=KindText(
        title="self-draft",
        about="All of the target's own layers, the attentions of several at once (EasySpec).",
        help="A group of @parallel= layers reads one input, so several devices can share the work. Here one processor "
        "does all of it: such a draft costs as much as the target and cannot pay. @calibrate=0 shows why its keys and "
        "values are renewed in every round.",
        in_names=NameForms(("[a ]self-draft",)),
    ),
    keys=(*VERIFIES, PARALLEL, CALIBRATE, DTYPE),
    placement=Placement(needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(), of_target=lambda spec: True),
    planning=Planning(named=True),
    offer=offer,
    build=build_self,
)
KINDS = (SELF,)
