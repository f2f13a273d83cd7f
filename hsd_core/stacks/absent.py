"""Which weights stacks of a preset need, and which of them are not here yet. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import ID
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import parse
from hsd_core.models.weights import Source, is_here
from hsd_core.stacks.targets import meant, weights_named


def absent(preset: str | Preset, stacks: Sequence[str], *, models: Path | None = None) -> list[Source]:
    """The weights that stacks of a preset read and that are not on the disk, each once, the target's first.

    Args:
        models: a folder whose models may be named.
    Raises:
        UnknownPreset, StackError, WeightsError: as in `Pipeline.open`.
    """
    wanted = [source for stack in stacks for source in _sources(preset, stack, models)]
    return [source for source in dict.fromkeys(wanted) if not is_here(source)]


def _sources(asked: str | Preset, stack: str, models: Path | None) -> Iterator[Source]:
    preset = meant(asked, stack, models)
    if preset.toy:
        return
    yield preset.target
    for spec in parse(stack):
        if (own := kind_of(spec).shares.own) is not None:
            named = spec.get(ID)
            found = weights_named(preset, named, models) if named else own(preset)
            if found is not None:
                yield found
