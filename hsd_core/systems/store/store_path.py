"""The path of a target's store, and the time it takes to build. Imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.models.weights.store import cache_folder
from hsd_core.stacks.targets import preset_option

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset

MAKING = "two to ten minutes"  # on two cores, for a target of 135 M weights


def store_path(preset_key: str) -> Path:
    """The file of the store of a preset's target."""
    return cache_folder() / "knn" / f"{preset_key}.safetensors"


def missing_store(preset: Preset) -> str:
    """A sentence that the store of a preset's target must be built, and how; "" if it exists."""
    if store_path(preset.key).is_file():
        return ""
    return (
        f"A store of what the target makes of a text, made once by whoever runs this server, in {MAKING} on two cores: "
        f"python -m hsd_core knn-store {preset_option(preset.name)}"
    )
