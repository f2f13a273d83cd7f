"""The engine's own time: what real runs take beyond their drafts and verifications.

Most of it goes with a verification (rows of a block are gathered, caches cut back), some with a round (the commit).
Plain decoding has one verification a round, a hierarchy several: two measurements, two unknowns.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.driver import Stopped
from hsd_core.sampling import Sampling
from hsd_core.trace import Draft, Event, Footer, Verify

if TYPE_CHECKING:
    from hsd_core.calibrate.texts import Written
    from hsd_core.levels.entry import StackEntry

RUNS, TOKENS, PLAIN_TOKENS = 5, 24, 10


@dataclass(frozen=True, slots=True)
class Outside:
    """ms outside the levels: for each round, and on top for each verification in it."""

    round_ms: float
    verify_ms: float


def outside(
    seats: Sequence[StackEntry], texts: Sequence[Written], temperature: float, ends: frozenset[int],
    *, tell: Callable[[int, int], None], stop: Callable[[], bool],
) -> Outside:  # fmt: skip
    """From short runs of a stack and of its target alone, in turn; the first of each is dropped.

    Raises:
        Stopped: `stop` turned true.
    """
    from hsd_core.engine import run

    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    sampling, runs = Sampling(temperature), min(RUNS, len(texts))
    for number, text in enumerate(texts[:runs]):
        for plain, tokens in ((False, TOKENS), (True, PLAIN_TOKENS)):
            stack = seats[-1:] if plain else seats
            events = list(
                run(stack, text.prompt, sampling, number, max_new_tokens=tokens, ends=ends, heads=0, stop=stop)
            )
            if stop():
                raise Stopped
            found[plain].append((outside_levels(events), verifications(events)))
        tell(number + 1, runs)
    (round_of_stack, calls), (round_of_plain, _) = (
        (statistics.median(x) for x in zip(*(found[plain][1:] or found[plain]), strict=True)) for plain in (False, True)
    )
    return taken_apart(round_of_stack, calls, round_of_plain)


def taken_apart(round_of_stack: float, calls: float, round_of_plain: float) -> Outside:
    """ms of a round of a stack with `calls` verifications, and of one of plain decoding: neither part is negative."""
    if calls <= 1.0:
        return Outside(round_of_plain, 0.0)
    verify_ms = (round_of_stack - round_of_plain) / (calls - 1.0)
    if verify_ms <= 0.0:
        return Outside(round_of_plain, 0.0)
    if verify_ms >= round_of_plain:
        return Outside(0.0, round_of_stack / calls)
    return Outside(round_of_plain - verify_ms, verify_ms)


def outside_levels(events: Sequence[Event]) -> float:
    """ms per round of a finished run that lie in no draft and no verification."""
    footer = next(event for event in events if isinstance(event, Footer))
    inside = sum(event.t1 - event.t0 for event in events if isinstance(event, (Draft, Verify)))
    return max(0, footer.decode_ns - inside) / max(1, footer.rounds) / 1e6


def verifications(events: Sequence[Event]) -> float:
    """Verifications per round of a finished run, the target's own among them."""
    footer = next(event for event in events if isinstance(event, Footer))
    return sum(isinstance(event, Verify) for event in events) / max(1, footer.rounds)
