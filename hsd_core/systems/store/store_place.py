"""Where a target's store lies, and what making it takes. Imports no torch."""

from __future__ import annotations

from pathlib import Path

from hsd_core.models.weights.store import cache_folder

MAKING = "two to ten minutes"  # on two cores, for a target of 135 M weights


def store_path(preset_key: str) -> Path:
    """Where the store of a preset's target is kept."""
    return cache_folder() / "knn" / f"{preset_key}.safetensors"
