"""The cost of a pass of n rows of each of B texts, for every level that verifies: what sharing a pass is worth.

All texts take their passes in lock step, as the runs of a batch do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from statistics import median

from hsd_core.batch.batch import Batch
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Event
from hsd_core.core.level import LevelRun, StackEntry, scorer
from hsd_core.core.tree import named
from hsd_core.grammar.stack_text import bare, format_stack
from hsd_core.levels.shared import open_levels
from hsd_core.measure.timed import NS_PER_MS
from hsd_core.models.context import Context
from hsd_core.theory.profiles.under_load import JointCosts

LENGTH = 128  # tokens before the passes
ROWS = 1, 2, 4, 8
REPEATS = 6  # the first is dropped


def joint_costs(entries: Iterable[StackEntry], ids: Sequence[int], loads: Sequence[int]) -> JointCosts:
    """Level as a stack writes it, without T -> load -> rows of each text -> ms of the pass.

    ids: a text of more than `LENGTH` + max(`ROWS`) tokens. Levels that read another one's states are left out.
    """
    found: JointCosts = {}
    for entry in entries:
        name = format_stack([bare(entry.spec)])
        if name not in found and entry.level.can_verify and entry.level.has_cache and not entry.level.about.fed:
            found[name] = {load: _ms(entry, ids, load) for load in sorted({1, *loads})}
    return found


def _ms(entry: StackEntry, ids: Sequence[int], load: int) -> dict[int, float]:
    times: dict[int, list[float]] = {n: [] for n in ROWS}
    runs = [next(iter(open_levels([entry.level], LENGTH + max(ROWS) + 1))) for _ in range(load)]
    batch = Batch(load)
    for number, run in enumerate(runs):
        batch.add(partial(_passes, run, ids, times if number == load - 1 else {}))  # the last one waits for none
    try:
        for _, event in batch.events():
            if isinstance(event, Exception):
                raise event
    finally:
        for run in runs:
            run.close()
    return {n: median(own[1:]) for n, own in times.items()}


def _passes(
    run: LevelRun, ids: Sequence[int], times: dict[int, list[float]], clock: EngineClock, stop: Callable[[], bool]
) -> Iterator[Event]:
    scorer(run).score(Context(ids[:LENGTH]))
    for _ in range(REPEATS):
        for n in ROWS:
            began = clock.now()
            scorer(run).score(Context(ids[: LENGTH + 1]), named(ids[LENGTH + 1 : LENGTH + n]))
            if n in times:
                times[n].append((clock.now() - began) / NS_PER_MS)
            run.keep(LENGTH, ())
    yield from ()
