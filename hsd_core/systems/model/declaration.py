"""Whole models: another one of the target's family, and the target, the last level, whose distribution the output
follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import DEVICE, DTYPE, HEAD, ID, VERIFIES
from hsd_core.grammar.kind import (
    BLUE,
    LAST,
    YELLOW,
    Kind,
    KindText,
    Look,
    NameForms,
    OwnModel,
    Placement,
    Reads,
    Shares,
    Site,
)
from hsd_core.levels.building import model_level
from hsd_core.models.machine import has_cuda

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.model_level import ModelLevel

UNDRAFTED = "undrafted"  # a level's parameter: the number of special tokens that differ from the target's


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    if preset.drafts:
        named = [{}, *({"id": source.id} for source in preset.drafts[1:])]  # the first is the default
        return [kind.entry(x.title, params=params) for x, params in zip(preset.drafts, named, strict=True)]
    return [kind.entry("a smaller model", reason="no smaller model of the target's family comes with it")]


def build(spec: LevelSpec, site: Site) -> ModelLevel:
    from hsd_core.levels.head_ids import head_ids
    from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences
    from hsd_core.systems.model.masked import MaskedDecoder

    found = site.fetched(spec.get(ID))
    if found is None:
        raise StackError(f"preset {site.preset.name} has no smaller model; name one with model@id=HUB-OR-FOLDER")
    source, folder = found
    try:
        apart = special_differences(Tokenizer(folder), site.tokenizer)
    except TokenizerError as error:
        cure = f"write cross:4@id={spec.get(ID) or source.id}, or use a level of the same family"
        raise StackError(f'level "{source.title}": {error}; {cure}') from error
    dtype, device = spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    says = head_ids(spec, site, apart)
    level = model_level(
        site, source, folder, dtype, device, kind=spec.name, label=source.title, feeds=False, head_ids=says
    )
    if apart:
        if level.vocab_size < site.tokenizer.vocab_size:
            raise StackError(
                f'level "{source.title}": it has weights for {level.vocab_size} ids, and the target\'s tokenizer has '
                f"{site.tokenizer.vocab_size}; use a level of the same family"
            )
        level.decoder = MaskedDecoder(level.decoder, [id_ for id_ in apart if id_ < level.vocab_size])
        level.about.params[UNDRAFTED] = len(apart)
    return level


KIND = Kind(
    name="model",
    order=60,
    look=Look("M", YELLOW, "thick", stand_in="level"),
    text=KindText(
        title="smaller model",
        about="Another model of the target's family.",
        help="The preset's smaller one, or @id= a Hub id or folder.",
        in_names=NameForms(("{dtype} {id}", "{id}", "[a ]smaller {dtype} model", "[a ]smaller model")),
    ),
    keys=(*VERIFIES, DTYPE, DEVICE, *HEAD, ID),
    placement=Placement(needs=frozenset({"weights"})),
    shares=Shares(own=OwnModel(lambda preset: preset.draft)),
    offer=offer,
    build=build,
)


def offer_target(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(preset.target.title + (" on the accelerator" if has_cuda() else ""))]


def build_target(spec: LevelSpec, site: Site) -> Level:
    source, dtype, device = site.of_target(spec.get(ID)), spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    return model_level(site, source, site.folder, dtype, device, kind=spec.name, label=source.title, feeds=True)


TARGET = Kind(
    name="target",
    order=80,
    look=Look("T", BLUE, "solid", stand_in="target"),
    text=KindText(
        title="the model",
        about="The last level: its distribution is the output's.",
        help="@dtype=int8 or int4 makes such a copy a target of its own. @id= names any other target: a Hub id, a "
        "folder or a .gguf file.",
        in_names=NameForms(("{dtype} {id}", "{id}", "the {dtype} model", "the model")),
    ),
    keys=(*VERIFIES, DTYPE, DEVICE, ID),
    placement=Placement(stands=LAST, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads()),
    offer=offer_target,
    build=build_target,
)
KINDS = (KIND, TARGET)
