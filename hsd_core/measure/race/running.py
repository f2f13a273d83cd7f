"""Lanes that run side by side: one round of one lane, one round of the next, until all texts are written.

Each lane is a run of its own with a clock of its own, which stands still while the others work; so what slows the
machine down for a moment meets them all, and nobody pays for another one's rounds. A lane whose levels work at the same
time runs each pass alone here too, on a reckoned clock, which every comparison with it names. Who begins a turn rotates
from turn to turn and from repeat to repeat. A short race warms everything up and is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.core.events import Commit, Event, Kv
from hsd_core.measure.timed import rotated
from hsd_core.models import machine
from hsd_core.models.machine import refuse

if TYPE_CHECKING:
    from hsd_core.levels.memory import Memory

LANES = (2, 4)  # at least, at most
WARM_TOKENS = 16
HEADS = 3  # likeliest tokens of each row that a race's file keeps: it is several traces

Opened = Callable[[str, int], Generator[Event, None, None]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A lane has had its round. `repeat`: 0 while warming up. `tokens`: what the lane has committed in it."""

    repeat: int
    lane: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Heat:
    """A repeat that is over: the events of each lane."""

    lanes: tuple[list[Event], ...]


def race(opened: Opened, stacks: Sequence[str], *, tokens: int, repeats: int) -> Generator[Turn | Heat, None, None]:
    """Run the stacks beside one another; the heats come as they are finished.

    Args:
        opened: (stack, most tokens) -> the events of a run. tokens: of a text, at most.
    Raises:
        ValueError: too few or too many stacks.
    """
    check_lanes(stacks)
    for repeat in range(repeats + 1):
        limit = min(tokens, WARM_TOKENS) if repeat == 0 else tokens
        lanes: tuple[list[Event], ...] = tuple([] for _ in stacks)
        yield from _heat(opened, stacks, limit, repeat, lanes)
        if repeat:
            yield Heat(lanes)


def check_lanes(stacks: Sequence[str]) -> None:
    """
    Raises:
        ValueError: too few or too many stacks.
    """
    least, most = LANES
    if not least <= len(stacks) <= most:
        raise ValueError(f"a race has {least} to {most} stacks, not {len(stacks)}")


def _heat(
    opened: Opened, stacks: Sequence[str], limit: int, repeat: int, lanes: Sequence[list[Event]]
) -> Generator[Turn, None, None]:
    with ExitStack() as held:
        runs = [held.enter_context(closing(opened(stack, limit))) for stack in stacks]
        going, turn, tokens = set(range(len(runs))), repeat, [0] * len(runs)
        while going:
            for lane in rotated(range(len(runs)), turn):
                if lane not in going:
                    continue
                events = _round(runs[lane])
                if not events:
                    going.remove(lane)
                lanes[lane].extend(events)
                tokens[lane] += sum(len(event.tokens) for event in events if isinstance(event, Commit))
                yield Turn(repeat, lane, tokens[lane])
            turn += 1


def _round(run: Generator[Event, None, None]) -> list[Event]:
    """The run's events up to the end of its next round, with what its levels do after the commit; at the end none."""
    events: list[Event] = []
    committed = False
    for event in run:
        events.append(event)
        committed = committed or isinstance(event, Commit)
        if committed and isinstance(event, Kv):
            break
    return events


def refuse_too_large(memories: Sequence[Memory], tokens: int, device: str) -> None:
    """
    Args:
        memories: of the lanes' runs. Weights are loaded once, however many lanes use them, and before this is asked.
    Raises:
        TooLarge: the memory that is free now does not hold them side by side; the message has both figures.
    """
    needed = sum(memory.kept for memory in memories) + max(memory.at_work for memory in memories)
    what = f"a race of {len(memories)} stacks over {tokens} tokens each"
    refuse(needed, machine.free_bytes(device), what, "race fewer stacks, or ask for fewer tokens")
