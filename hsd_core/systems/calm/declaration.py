"""CALM: a target that leaves its layers where it is sure, and copies the state upward. Not exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import Choice, Depths, Share, StackError, depths_of
from hsd_core.grammar.keys import AT, DEVICE, DTYPE, ID, MAX_DEPTH, VERIFIES
from hsd_core.grammar.kind import (
    BLUE,
    LAST,
    Kind,
    KindText,
    Look,
    NameForms,
    Placement,
    Planning,
    Reads,
    Shares,
    Site,
    Unplanned,
)
from hsd_core.grammar.spec import LevelSpec, as_target

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset

THROUGH = Depths(name=AT.name, place=AT.place, high=MAX_DEPTH, noted="layers {}")
SURE = Share(
    name="sure",
    place=23,
    usual=0.9,
    step=0.01,
    noted="leaves above {}",
    tip="how sure a token must be to leave; at 1 none does, and the model decodes as usual",
)
LIKE = Choice(
    name="like",
    place=24,
    usual="gap",
    choices=("gap", "state"),
    words={
        "gap": "gap · the distance of its two likeliest tokens",
        "state": "state · how little its state still changes",
    },
    terms={"state": "by its state"},
    noted="{}",
    label="sure by",
    tip="what sureness is; the gap costs the model's head at every exit",
)
DECAY = Share(
    name="decay",
    place=25,
    usual=0.0,
    high=10.0,
    step=0.5,
    noted="decay {}",
    tip="how fast the threshold falls, to nine tenths of it, over the text; 0: it does not",
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    at = "-".join(str(preset.layers * part // 6) for part in (4, 5)) if preset.layers >= 6 else "1"
    return [kind.entry("the model, left early", reason=preset.whole, params={AT.name: at}, can_draft=False)]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.building import split_layers
    from hsd_core.models.decoder_protocol import Fills
    from hsd_core.systems.calm.calm_level import CalmLevel, Leaving

    source, depths = site.of_target(spec.get(ID)), depths_of(spec[THROUGH])
    spec = spec.having(dtype=spec.get(DTYPE) or site.dtype, device=spec.get(DEVICE) or site.device)
    decoder = site.layered(spec)
    if not isinstance(decoder, Fills):
        raise StackError(f"calm: {type(decoder).__name__} cannot leave its layers out; write target")
    leaving = Leaving(depths, spec[SURE], spec[DECAY], spec[LIKE] == "state")
    try:
        level = CalmLevel(decoder, leaving, label=f"{source.title}, left early", weights=source.as_dict(site.folder))
    except ValueError as error:
        raise StackError(f"calm: {error}") from error
    split_layers(decoder, depths)
    return level


KINDS = (
    Kind(
        name="calm",
        order=81,
        look=Look("T", BLUE, "dashed"),
        text=KindText(
            title="the model, left early",
            about="The target, left at the first layer that is sure; the layers above get a copy of its state (CALM).",
            help="Not the model's own text. @at=10-20 names the layers where a token may leave, @sure= how sure it "
            "must be there.",
            in_names=NameForms(("the model, left early at {at}", "the model, left early")),
        ),
        keys=(THROUGH, SURE, LIKE, DECAY, *VERIFIES, DTYPE, DEVICE, ID),
        placement=Placement(stands=LAST, needs=frozenset({"weights"})),
        shares=Shares(reads=Reads()),
        planning=Planning(
            unplanned=lambda spec: Unplanned(
                "calm, whose passes end at any layer", "profiles know passes of one depth; calibrate target"
            ),
            strays=lambda spec: "" if spec[SURE] == 1 else "keeps the first layer's choice that is sure",
            plain=as_target,
        ),
        offer=offer,
        build=build,
    ),
)
