"""Presets and levels as the page and the command line list them: usable, or shown with the reason why not.

Needs no weights, no network and no torch import, so that a page can be drawn at once.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hsd_core.grammar import kinds
from hsd_core.grammar.preset import Preset
from hsd_core.models.machine import has_cuda
from hsd_core.stacks.presets import PRESETS


def catalogue() -> list[dict[str, Any]]:
    """One entry a preset, usable ones first; all values are plain JSON types."""
    entries = [entry_of(preset) for preset in PRESETS.values()]
    return sorted(entries, key=lambda entry: not entry["usable"])


def entry_of(preset: Preset) -> dict[str, Any]:
    """A preset as the catalogue lists it."""
    usable, reason, download_mb = preset.status()
    return {
        "name": preset.name,
        "title": preset.title,
        "usable": usable,
        "reason": reason,
        "needs_download": download_mb > 0,
        "download_mb": download_mb,
        "memory_gb": preset.memory_gb,
        "default_stack": preset.stack("cuda" if has_cuda() else "cpu"),
        "stacks": [asdict(example) for example in preset.stacks],
        "levels": [entry for kind in kinds().values() if kind.suits(preset) for entry in kind.offer(kind, preset)],
        "devices": [
            {"name": "cpu", "usable": True, "reason": ""},
            {"name": "cuda", "usable": has_cuda(), "reason": "" if has_cuda() else "no CUDA device was found"},
        ],
    }
