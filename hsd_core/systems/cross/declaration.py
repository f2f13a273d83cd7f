"""A model of another family, with another tokenizer (TokenTiming, arXiv 2510.15545)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, Choice, StackError
from hsd_core.grammar.keys import DEVICE, DTYPE, ID, POLICY
from hsd_core.grammar.kind import YELLOW, Kind, KindText, Look, NameForms, OwnModel, Placement, Planning, Shares, Site

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.cross.cross_level import CrossLevel

MAP = Choice(
    name="map",
    place=58,
    counts=DRAFTER,
    usual="text",
    choices=("text", "shared", "warped"),
    label="hands up",
    words={
        "text": "text · spelled in the target\u2019s tokens",
        "shared": "shared · tokens that both have, as drawn",
        "warped": "warped · text, and probabilities that nobody drew by (lossy)",
    },
    terms={"shared": "shared tokens", "warped": "warped probabilities"},
    noted="{}",
    inexact={"warped": "judges spelled tokens by the probabilities of other tokens"},
    tip="what is handed up: the draft\u2019s text, spelled anew in the target\u2019s tokens, or only tokens that both "
    "vocabularies have, with the row that they were drawn from",
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    if preset.strangers:
        return [kind.entry(one.source.title, params={"id": one.name}) for one in preset.strangers]
    return [kind.entry("a model of another family", reason="no model with another tokenizer comes with it")]


def build(spec: LevelSpec, site: Site) -> CrossLevel:
    from hsd_core.levels.model_level import ModelLevel
    from hsd_core.models.tokenizer import Tokenizer
    from hsd_core.systems.cross.cross_level import CrossLevel

    strangers = site.preset.strangers
    name = spec.get(ID) or (strangers[0].name if strangers else None)
    if name is None or (found := site.fetched(name)) is None:
        raise StackError(f"preset {site.preset.name} has no model of another family; name one with cross@id=NAME")
    source, folder = found
    own = Tokenizer(folder)
    dtype, device = spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    decoder = site.decoder(folder, dtype, device, spec.name, vocab=own.vocab_size)
    weights = source.as_dict(folder)
    inner = ModelLevel(decoder, name=spec.name, kind=spec.name, label=source.title, feeds=False, weights=weights)
    try:
        return CrossLevel(inner, own, site.tokenizer, site.tokenizer.vocab_size, map_=spec[MAP], name=spec.name)
    except ValueError as error:
        raise StackError(f'level "{source.title}": {error}') from error


CROSS = Kind(
    name="cross",
    order=62,
    look=Look("O", YELLOW, "wavy"),
    text=KindText(
        title="another tokenizer",
        about="A model of another family, whose tokenizer differs from the target's.",
        help="It drafts text, which is spelled anew in the target's tokens (@map=text), or keeps to the tokens that "
        "both vocabularies have (@map=shared). @map=warped carries probabilities over as TokenTiming does, which is "
        "lossy. @id= is a preset's name, a Hub id or a folder. It only drafts: it has no row over the target's tokens "
        "to verify with.",
        in_names=NameForms(
            ("{dtype} {id} with its own tokenizer", "{id} with its own tokenizer", "[a ]model with another tokenizer")
        ),
    ),
    keys=(POLICY, MAP, DTYPE, DEVICE, ID),
    placement=Placement(verifies=False, needs=frozenset({"weights"})),
    shares=Shares(own=OwnModel(lambda preset: preset.stranger, "any")),
    planning=Planning(named=True),
    offer=offer,
    build=build,
)
KINDS = (CROSS,)
