"""A run that measures, to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hsd_core.core.driver import Stopped
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.prepared import run


def ran(
    entries: Sequence[StackEntry],
    prompt: Sequence[int],
    sampling: Sampling,
    seed: int,
    *,
    stop: Callable[[], bool],
    **settings: Any,
) -> list[Event]:
    """The events of a run, see `stacks.prepared.run`.

    Raises:
        Stopped: `stop` turned true.
    """
    events = list(run(entries, prompt, sampling, seed, stop=stop, **settings))
    if stop():
        raise Stopped
    return events
