"""Building levels over a model: over all its layers, and preparing its layers for exits. Importing this imports no
torch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.grammar.key import StackError
from hsd_core.grammar.kind import Site

if TYPE_CHECKING:
    from hsd_core.levels.model_level import ModelLevel
    from hsd_core.levels.trunk import Layered
    from hsd_core.models.decoder_protocol import Recording
    from hsd_core.models.weights import Source


def model_level(
    site: Site,
    source: Source,
    folder: Path,
    dtype: str,
    device: str,
    *,
    kind: str,
    label: str,
    feeds: bool,
    head_ids: list[int] | None = None,
) -> ModelLevel:
    """A level that runs all layers of a model. `feeds`, `head_ids`: see `ModelLevel`.

    Raises:
        StackError: its head cannot be trimmed.
    """
    from hsd_core.levels.model_level import ModelLevel

    decoder = site.decoder(folder, dtype, device, kind)
    weights = source.as_dict(folder)
    try:
        return ModelLevel(decoder, name=kind, kind=kind, label=label, feeds=feeds, weights=weights, head_ids=head_ids)
    except ValueError as error:
        raise StackError(str(error)) from error


def split_layers(decoder: Layered | Recording, depths: Iterable[int]) -> None:
    """Run one pass that stops at these depths, so that a compiled decoder splits its layers now and not in a run.

    Raises:
        DecoderError: the model runs whole, and gives no states.
    """
    import torch

    from hsd_core.levels.trunk import Layered
    from hsd_core.models.one_pass import Pass

    if not isinstance(decoder, Layered):
        decoder.recorded(Pass([0]), decoder.new_cache(1), [*depths])
        return
    with torch.inference_mode():
        cache, x, lo = decoder.new_cache(1), None, 0
        for at in sorted({*depths, decoder.layers}):
            x, lo = decoder.forward_layers(Pass([0]), cache, lo, at, x), at
