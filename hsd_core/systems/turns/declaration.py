"""EAD: a small and a large model that take turns by entropy, as one target. Not exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import Share, StackError, Value, WeightsName, Whole
from hsd_core.grammar.keys import AT, DEVICE, DTYPE, ID, VERIFIES
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
from hsd_core.models.drafts import known_drafts

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset

SMALL = WeightsName(name="small", place=94, noted="{}")
BITS = Share(
    name="bits",
    place=26,
    usual=2.0,
    high=20.0,
    step=0.1,
    label="entropy",
    noted="{} bits",
    tip="the mean entropy from which the large model writes, in bits; at 0 it writes everything",
)
WINDOW = Whole(
    name="last",
    place=27,
    usual=5,
    low=1,
    high=64,
    noted="mean of {}",
    tip="how many of the last tokens the mean entropy is of",
)
STAY = Whole(
    name="stay",
    place=28,
    usual=5,
    low=1,
    high=64,
    noted="stays for {}",
    tip="how many tokens a model writes at least once it has taken over",
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    at = {} if preset.drafts else {AT.name: max(1, preset.layers // 4)}
    label = "two models in turn" if preset.drafts else "the model and an exit of it in turn"
    return [kind.entry(label, reason=preset.whole, params=at, can_draft=False)]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.building import model_level
    from hsd_core.systems.turns.turns_level import Turning, TurnsLevel

    source = site.of_target(spec.get(ID))
    dtype, device = spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    large = model_level(site, source, site.folder, dtype, device, kind="target", label=source.title, feeds=False)
    turning = Turning(spec[BITS], spec[WINDOW], spec[STAY])
    weights, params = source.as_dict(site.folder), dict[str, object]()
    if (at := spec.get(AT)) is not None:
        small, label = _exit(spec.having(dtype=dtype, device=device), site), f"an exit at layer {at}"
        params["at"] = at
    else:
        found = site.fetched(spec.get(SMALL))
        if found is None:
            raise StackError(
                f"preset {site.preset.name} has no smaller model; write turns@at=8 for an exit of the target, or "
                "turns@small=HUB-OR-FOLDER"
            )
        one, folder = found
        small = model_level(site, one, folder, dtype, device, kind="model", label=one.title, feeds=False)
        if small.vocab_size != large.vocab_size:
            raise StackError(f"turns: {one.title} has {small.vocab_size} ids, the target {large.vocab_size}")
        label, params["small"] = one.title, one.id
    name = f"{label} and {source.title} in turn"
    return TurnsLevel(large.decoder, small, large, turning, label=name, weights=weights, params=params)


def _exit(spec: LevelSpec, site: Site) -> Any:
    """The target's exit at a layer, read by the draft that was trained there for itself, or by the model's own head."""
    from hsd_core.grammar.registry import kinds

    if "exit" not in kinds():
        raise StackError("turns: there are no exits here; write turns@small=HUB-OR-FOLDER")
    drafts = known_drafts.shipped(site.preset.name)
    own = next((one.name for one in drafts if one.at == spec[AT] and not one.fed), known_drafts.LENS)
    kept: dict[str, Value] = {AT.name: spec[AT], ID.name: own, DTYPE.name: spec[DTYPE], DEVICE.name: spec[DEVICE]}
    return kinds()["exit"].build(LevelSpec("exit", None, kept), site)


KINDS = (
    Kind(
        name="turns",
        order=82,
        look=Look("T", BLUE, "double"),
        text=KindText(
            title="two models in turn",
            about="A small model writes while the text is easy, the target while it is hard (EAD).",
            help="Not the model's own text. @small= names the small model, the preset's if left out; @at=8 takes the "
            "target's exit at that layer in its place. @bits= is the mean entropy from which the target writes.",
            in_names=NameForms(
                ("an exit at layer {at} and the model in turn", "{small} and the model in turn", "two models in turn")
            ),
        ),
        keys=(AT, BITS, WINDOW, STAY, *VERIFIES, DTYPE, DEVICE, SMALL, ID),
        placement=Placement(stands=LAST, needs=frozenset({"weights"})),
        shares=Shares(reads=Reads()),
        planning=Planning(
            unplanned=lambda spec: Unplanned(
                "turns, two models that take turns", "profiles know one model a level; calibrate model,target"
            ),
            strays=lambda spec: "leaves easy text to a smaller model" if spec[BITS] else "",
            plain=as_target,
        ),
        offer=offer,
        build=build,
    ),
)
