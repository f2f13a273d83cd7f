"""A level that runs all layers of a model. Importing this imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.grammar.key import StackError
from hsd_core.grammar.kind import Site

if TYPE_CHECKING:
    from hsd_core.levels.model_level import ModelLevel
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
