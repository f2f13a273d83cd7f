"""The cost of a pass of n rows of each of B texts, for every level that verifies: what sharing a pass is worth.

All texts take their passes in lock step, as the runs of a batch do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from statistics import median

from hsd_core.batch.batch import Batch
from hsd_core.core.clock import EngineClock
from hsd_core.core.driver import Stopped
from hsd_core.core.events import Event
from hsd_core.core.level import LevelRun, StackEntry, scorer
from hsd_core.core.tree import named
from hsd_core.grammar.stack_text import bare, format_stack
from hsd_core.levels.shared import open_levels
from hsd_core.measure.timed import NS_PER_MS
from hsd_core.models.context import Context
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.under_load import JointCosts

LENGTH = 128  # tokens before the passes
ROWS = 1, 2, 4, 8
REPEATS = 6  # the first is dropped


def joint_costs(
    entries: Iterable[StackEntry],
    ids: Sequence[int],
    loads: Sequence[int],
    *,
    known: Profile | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> JointCosts:
    """Level as a stack writes it, without T -> load -> ms of a pass by the rows of each text.

    Args:
        ids: a text, which is repeated as often as needed. Levels that read another one's states are left out.
        known: of this machine; its levels that have all these loads are not measured again.
        stop: called before each load of each level.
    Raises:
        Stopped: `stop` returned True.
    """
    ids = list(islice(cycle(ids), LENGTH + max(ROWS) + 1))
    wanted = sorted({1, *loads})
    levels: dict[str, StackEntry] = {}
    for entry in entries:
        if entry.level.can_verify and entry.level.has_cache and not entry.level.about.fed:
            levels.setdefault(format_stack([bare(entry.spec)]), entry)
    before: dict[str, Mapping[int, Costs]] = {
        level.spec: level.joint for level in (known.levels if known else ()) if {*wanted} <= level.joint.keys()
    }
    found: dict[str, Mapping[int, Costs]] = {}
    for number, (name, entry) in enumerate(levels.items()):
        own: dict[int, Costs] = {}
        for load in wanted if name not in before else ():
            if stop():
                raise Stopped
            own[load] = _costs(entry, ids, load)
            progress(number * len(wanted) + len(own), len(levels) * len(wanted))
        found[name] = own or before[name]
    return found


def _costs(entry: StackEntry, ids: Sequence[int], load: int) -> Costs:
    times: dict[int, list[float]] = {n: [] for n in ROWS}
    runs = [next(iter(open_levels([entry.level], LENGTH + max(ROWS) + 1))) for _ in range(load)]
    batch = Batch(load)
    for number, run in enumerate(runs):
        scorer(run).score(Context(ids[:LENGTH]))  # alone: all texts of a large load do not fit into one pass
        batch.add(partial(_passes, run, ids, times if number == load - 1 else {}))  # the last one waits for none
    try:
        for _, event in batch.events():
            if isinstance(event, Exception):
                raise event
    finally:
        for run in runs:
            run.close()
    return Costs(ROWS, tuple(round(median(own[1:]), 4) for own in times.values()))


def _passes(
    run: LevelRun, ids: Sequence[int], times: dict[int, list[float]], clock: EngineClock, stop: Callable[[], bool]
) -> Iterator[Event]:
    for _ in range(REPEATS):
        for n in ROWS:
            began = clock.now()
            scorer(run).score(Context(ids[: LENGTH + 1]), named(ids[LENGTH + 1 : LENGTH + n]))
            if n in times:
                times[n].append((clock.now() - began) / NS_PER_MS)
            run.keep(LENGTH, ())
    yield from ()
