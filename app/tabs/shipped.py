"""What tabs show that comes with the program, and which models they offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.serve.offer import EVERYTHING, ServerOffer
from hsd_core.typed.program_files import ASSETS


@dataclass(frozen=True)
class Shipped:
    """Folders of `assets`.

    Attributes:
        traces: recordings. results: benchmarks. profiles: profiles, and validations of what they predict.
        lessons: lessons, and classes over them. races: recorded races. systems: cards of the Atlas.
        offer: what visitors may load.
        measured: gives the profiles measured on this machine; None looks into the cache.
    """

    traces: Path = ASSETS / "traces"
    results: Path = ASSETS / "results"
    profiles: Path = ASSETS / "profiles"
    lessons: Path = ASSETS / "lessons"
    races: Path = ASSETS / "races"
    systems: Path = ASSETS / "systems"
    offer: ServerOffer = EVERYTHING
    measured: Callable[[], list[dict[str, Any]]] | None = None
