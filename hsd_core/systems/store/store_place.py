"""Where a target's store lies, and what making it takes. Imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.models.weights.store import cache_folder
from hsd_core.stacks.targets import preset_option

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset

MAKING = "two to ten minutes"  # on two cores, for a target of 135 M weights


def store_path(preset_key: str) -> Path:
    """Where the store of a preset's target is kept."""
    return cache_folder() / "knn" / f"{preset_key}.safetensors"


def store_needed(preset: Preset) -> str:
    """That the store of a preset's target has to be made, and how; "" where it lies here."""
    if store_path(preset.key).is_file():
        return ""
    return (
        f"A store of what the target makes of a text, made once by whoever runs this server, in {MAKING} on two cores: "
        f"python -m hsd_core knn-store {preset_option(preset.name)}"
    )
