"""What a system takes before it runs on this server: its weights, a GPU, what its levels need made."""

from __future__ import annotations

from app.tabs.atlas.systems import System
from app.words import page as says
from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import DEVICE
from hsd_core.grammar.stack_text import parse
from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import is_local
from hsd_core.stacks.presets import PRESETS


def first_needed(system: System) -> str:
    """A sentence for each thing, with what it takes; "" where nothing is needed, or nothing of it is built here. Looks
    at files alone."""
    if system.stack is None:
        return ""
    preset, specs = PRESETS[system.preset], parse(system.stack)
    said = []
    usable, reason, _ = preset.status()
    if not usable or any(source.kind == "hub" and not is_local(source) for source in preset.sources):
        said.append(says.first_weights(preset.title, reason))
    if any((spec.get(DEVICE) or "cpu") != "cpu" for spec in specs) and not has_cuda():
        said.append(says.FIRST_GPU)
    said += [first for spec in specs if (first := kind_of(spec).placement.first(spec, preset))]
    return " ".join(said)
