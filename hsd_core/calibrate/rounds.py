"""The engine's own time in a round: what real runs take beyond their drafts and verifications."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hsd_core.hierarchy import Stopped
from hsd_core.sampling import Sampling
from hsd_core.trace import Draft, Event, Footer, Verify

if TYPE_CHECKING:
    from hsd_core.calibrate.texts import Written
    from hsd_core.hierarchy import Seat

RUNS, TOKENS = 5, 24


def round_ms(
    seats: Sequence[Seat], texts: Sequence[Written], temperature: float, ends: frozenset[int],
    *, tell: Callable[[int, int], None], stop: Callable[[], bool],
) -> float:  # fmt: skip
    """ms per round outside the levels: the median of short runs of a stack; the first run is dropped.

    Raises:
        Stopped: `stop` turned true.
    """
    from hsd_core.engine import run

    found, runs = [], min(RUNS, len(texts))
    for number, text in enumerate(texts[:runs]):
        prompt, sampling = text.prompt, Sampling(temperature)
        events = list(run(seats, prompt, sampling, number, max_new_tokens=TOKENS, ends=ends, heads=0, stop=stop))
        if stop():
            raise Stopped
        found.append(outside_levels(events))
        tell(number + 1, runs)
    return statistics.median(found[1:] or found)


def outside_levels(events: Sequence[Event]) -> float:
    """ms per round of a finished run that lie in no draft and no verification."""
    footer = next(event for event in events if isinstance(event, Footer))
    inside = sum(event.t1 - event.t0 for event in events if isinstance(event, (Draft, Verify)))
    return max(0, footer.decode_ns - inside) / max(1, footer.rounds) / 1e6
