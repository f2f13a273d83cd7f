"""A race out of its heats: what was run, on what, by which command, and which repeat is kept with its traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hsd_core.measure.race.figures import middle
from hsd_core.measure.race.file import SCHEMA, Race, Raced, took
from hsd_core.measure.race.running import Heat
from hsd_core.measure.results.rawfile import now, ran_on


def raced(
    heats: Iterable[Heat],
    stacks: Sequence[str],
    *,
    device: str,
    dtype: str,
    prompt: str,
    raw: bool = False,
    title: str = "",
    about: str = "",
    command: str = "",
) -> Raced:
    """The race of these heats; the arguments are those of `Race`. Imports torch.

    Raises:
        ValueError: there is no heat, or a lane of one has no whole text.
    """
    heats = list(heats)
    if not heats:
        raise ValueError("no repeat was finished")
    shown = middle(heats)
    race = Race(
        schema=SCHEMA,
        title=title,
        stacks=tuple(stacks),
        repeats=tuple(tuple(took(lane) for lane in heat.lanes) for heat in heats),
        shown=shown,
        prompt=prompt,
        raw=raw,
        about=about,
        command=command,
        recorded=now(),
        device=device,
        dtype=dtype,
        **ran_on(device),
    )
    return Raced(race, heats[shown].lanes)
