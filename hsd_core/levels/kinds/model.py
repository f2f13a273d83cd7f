"""Another model of the target's family."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.key import StackError
from hsd_core.levels.declared.keys import DEVICE, DTYPE, ID, VERIFIES, VOCAB
from hsd_core.levels.declared.kind import YELLOW, Kind, Site
from hsd_core.levels.declared.said import Said

if TYPE_CHECKING:
    from hsd_core.levels.built.model import ModelLevel
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.models.weights import Source

UNDRAFTED = "undrafted"  # of a level's parameters: how many special tokens differ from the target's


def decoded(
    site: Site,
    source: Source,
    folder: Path,
    dtype: str,
    device: str,
    *,
    kind: str,
    label: str,
    feeds: bool,
    says: list[int] | None = None,
) -> ModelLevel:
    """A level that runs all layers of a model. `feeds`, `says`: see `ModelLevel`.

    Raises:
        StackError: its head cannot be trimmed.
    """
    from hsd_core.levels.built.model import ModelLevel

    decoder = site.decoder(folder, dtype, device, kind)
    weights = source.as_dict(folder)
    try:
        return ModelLevel(decoder, name=kind, kind=kind, label=label, feeds=feeds, weights=weights, says=says)
    except ValueError as error:
        raise StackError(str(error)) from error


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    if preset.drafts:
        named = [{}, *({"id": source.id} for source in preset.drafts[1:])]  # the first is meant without a name
        return [kind.entry(x.title, params=params) for x, params in zip(preset.drafts, named, strict=True)]
    return [kind.entry("a smaller model", reason="no smaller model of the target's family comes with it")]


def build(spec: LevelSpec, site: Site) -> ModelLevel:
    from hsd_core.levels.built.sparing import Sparing
    from hsd_core.levels.built.trimmed import first_ids
    from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences

    found = site.fetched(spec.get(ID))
    if found is None:
        raise StackError(f"preset {site.preset.name} has no smaller model; name one with model@id=HUB-OR-FOLDER")
    source, folder = found
    try:
        apart = special_differences(Tokenizer(folder), site.tokenizer)
    except TokenizerError as error:
        raise StackError(f'level "{source.title}": {error}; use a level of the same family') from error
    dtype, device = spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    says = first_ids(spec[VOCAB], site.ends, apart) if spec[VOCAB] else None
    level = decoded(site, source, folder, dtype, device, kind=spec.name, label=source.title, feeds=False, says=says)
    if apart:
        if level.vocab_size < site.tokenizer.vocab_size:
            raise StackError(
                f'level "{source.title}": it has weights for {level.vocab_size} ids, and the target\'s tokenizer has '
                f"{site.tokenizer.vocab_size}; use a level of the same family"
            )
        level.decoder = Sparing(level.decoder, [id_ for id_ in apart if id_ < level.vocab_size])
        level.params[UNDRAFTED] = len(apart)
    return level


KIND = Kind(
    name="model",
    order=60,
    title="model",
    about="Another model of the target's family.",
    help="The preset's smaller one, or @id= a Hub id or folder.",
    letter="M",
    colour=YELLOW,
    underline="thick",
    keys=(*VERIFIES, DTYPE, DEVICE, VOCAB, ID),
    labelled=("tower", "lanes"),
    needs=frozenset({"weights"}),
    offer=offer,
    build=build,
    said=Said(("{dtype} {id}", "{id}", "a smaller {dtype} model", "a smaller model")),
)
KINDS = (KIND,)
