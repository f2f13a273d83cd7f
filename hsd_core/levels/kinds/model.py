"""Another model of the target's family."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.key import StackError
from hsd_core.levels.declared.keys import DEVICE, DTYPE, ID, VERIFIES
from hsd_core.levels.declared.kind import YELLOW, Kind, Site

if TYPE_CHECKING:
    from hsd_core.levels.built.model import ModelLevel
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.models.weights import Source


def decoded(
    site: Site, source: Source, folder: Path, dtype: str, device: str, *, kind: str, label: str, feeds: bool
) -> ModelLevel:
    """A level that runs all layers of a model. `feeds`: of the target's, see `ModelLevel`."""
    from hsd_core.levels.built.model import ModelLevel

    decoder = site.decoder(folder, dtype, device, kind)
    return ModelLevel(decoder, name=kind, kind=kind, label=label, feeds=feeds, weights=source.as_dict(folder))


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    if preset.drafts:
        named = [{}, *({"id": source.id} for source in preset.drafts[1:])]  # the first is meant without a name
        return [kind.entry(x.title, params=params) for x, params in zip(preset.drafts, named, strict=True)]
    return [kind.entry("a smaller model", reason="this preset has no smaller model of the target's family")]


def build(spec: LevelSpec, site: Site) -> ModelLevel:
    from hsd_core.models.tokenizer import Tokenizer, same_tokenizer

    found = site.fetched(spec.get(ID))
    if found is None:
        raise StackError(f"preset {site.preset.name} has no smaller model; name one with model@id=HUB-OR-FOLDER")
    source, folder = found
    reason = same_tokenizer(Tokenizer(folder), site.tokenizer)
    if reason:
        raise StackError(f'level "{source.title}": {reason}; use a level of the same family')
    dtype, device = spec.get(DTYPE) or site.dtype, spec.get(DEVICE) or site.device
    return decoded(site, source, folder, dtype, device, kind=spec.name, label=source.title, feeds=False)


KINDS = (
    Kind(
        name="model",
        order=60,
        title="model",
        about="Another model of the target's family.",
        help="The preset's smaller one, or @id= a Hub id or folder.",
        letter="M",
        colour=YELLOW,
        underline="thick",
        keys=(*VERIFIES, DTYPE, DEVICE, ID),
        labelled=("tower", "lanes"),
        needs=frozenset({"weights"}),
        offer=offer,
        build=build,
    ),
)
