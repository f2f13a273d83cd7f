"""A draft with the attentions of several layers at once (EasySpec): a smaller model of the family, or the target
itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, StackError, Switch, Whole
from hsd_core.grammar.keys import DTYPE, VERIFIES, VOCAB
from hsd_core.grammar.kind import GREEN, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site
from hsd_core.grammar.registry import Extension

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.model_level import ModelLevel
    from hsd_core.levels.self_draft import Grouped, SelfLevel
    from hsd_core.models.decoder_protocol import Decoder

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


def grouping(decoder: Decoder, spec: LevelSpec, cure: str) -> Grouped:
    """The decoder, with its layers laid out in groups now and not within a run.

    Raises:
        StackError: it does not run attentions of several layers at once.
    """
    from hsd_core.levels.self_draft import Grouped
    from hsd_core.models.one_pass import Pass

    if not isinstance(decoder, Grouped):
        raise StackError(f"{spec.name}: its decoder does not group its layers; {cure}")
    decoder.in_groups(decoder.new_cache(1), spec[PARALLEL])(Pass([0]))
    return decoder


def build_self(spec: LevelSpec, site: Site) -> SelfLevel:
    from hsd_core.levels.self_draft import SelfLevel

    decoder = grouping(site.layered(spec), spec, "leave the level out")
    weights = site.preset.target.as_dict(site.folder)
    return SelfLevel(decoder, spec[PARALLEL], calibrated=bool(spec[CALIBRATE]), weights=weights)


def build_model(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], ModelLevel]) -> ModelLevel | SelfLevel:
    """A smaller model, with grouped attentions if they are asked for: no level above runs it, so it calibrates itself.

    Raises:
        StackError: they cannot be grouped, or its head is trimmed.
    """
    from hsd_core.levels.self_draft import SelfLevel

    level = plain(spec, site)
    if spec[PARALLEL] == 1:
        return level
    if spec[VOCAB]:
        raise StackError(f"{spec.name}: with @parallel= it says all tokens; leave @vocab= out")
    decoder, about = grouping(level.decoder, spec, "leave @parallel= out"), level.about
    found = SelfLevel(decoder, spec[PARALLEL], weights=about.weights, kind=spec.name, of=about.label)
    found.about.params.update(about.params)
    return found


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
EXTENDS = (
    Extension(
        of="model",
        keys=(PARALLEL.usually(1),),
        build=build_model,
        help="@parallel= runs the attentions of so many of its layers on one input (EasySpec), and the verified tokens "
        "once more in order, so that every draft begins from true keys and values.",
    ),
)
