"""What the page shows of an echo: why a stack of one loses in a benchmark."""

from __future__ import annotations

from hsd_core.systems.echo.declaration import BACK

from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import parse
from hsd_core.theory import Profile


def why_lost(stack: str, profile: Profile, preset: Preset | None) -> list[int]:
    """How far back each echo of the stack looks."""
    return [spec[BACK] for spec in parse(stack) if spec.name == "echo"]
