"""Levels over a model's layers: all of them, or up to some depths. Importing this imports no torch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.grammar.key import StackError
from hsd_core.grammar.kind import Site

if TYPE_CHECKING:
    from hsd_core.levels.model_level import ModelLevel
    from hsd_core.levels.trunk import Layered
    from hsd_core.models.weights import Source


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
    from hsd_core.levels.model_level import ModelLevel

    decoder = site.decoder(folder, dtype, device, kind)
    weights = source.as_dict(folder)
    try:
        return ModelLevel(decoder, name=kind, kind=kind, label=label, feeds=feeds, weights=weights, says=says)
    except ValueError as error:
        raise StackError(str(error)) from error


def stop_at(decoder: Layered, depths: Iterable[int]) -> None:
    """A first pass that stops at these depths: a compiled decoder cuts its layers there now, not within a run."""
    import torch

    from hsd_core.models.one_pass import Pass

    with torch.inference_mode():
        cache, x, lo = decoder.new_cache(1), None, 0
        for at in sorted({*depths, decoder.layers}):
            x, lo = decoder.forward_layers(Pass([0]), cache, lo, at, x), at
