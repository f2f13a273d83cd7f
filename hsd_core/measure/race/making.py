"""A race out of its heats: what was run, on what, by which command, and which repeat is kept with its traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hsd_core.measure.race.race_file import SCHEMA, Race, Raced, took
from hsd_core.measure.race.running import Heat
from hsd_core.measure.race.standings import middle
from hsd_core.measure.results.rawfile import now, ran_on


def raced(heats: Iterable[Heat], stacks: Sequence[str], *, device: str, **said: Any) -> Raced:
    """The race of these heats; imports torch. said: of the other fields of `Race` those that the heats do not tell.

    Raises:
        ValueError: there is no heat, or a lane of one has no whole text.
    """
    heats = list(heats)
    if not heats:
        raise ValueError("no repeat was finished")
    shown, title = middle(heats), said.pop("title", "")
    repeats = tuple(tuple(took(lane) for lane in heat.lanes) for heat in heats)
    about = {**said, "recorded": now(), "device": device, **ran_on(device)}
    return Raced(Race(SCHEMA, title, tuple(stacks), repeats, shown, **about), heats[shown].lanes)
