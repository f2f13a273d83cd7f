"""Passes of levels as a run pays for them, behind texts of some lengths, and their kernels under a profiler.

Every level is at rest behind the longest text, in a run of its own; a shorter one is a cut. All levels and rows of a
length, with a profiler and without, are gone through in turn, so that a slow minute falls on all alike. Each pass is
undone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hsd_core.levels.exits import ExitLevel
from hsd_core.levels.nano import NanoLevel
from hsd_core.levels.protocol import Committed
from hsd_core.levels.shared import open_levels
from hsd_core.levels.tree import named
from hsd_core.measure.calibrate.reading import is_fed, is_lookup, lookup_order
from hsd_core.measure.passes.parts import Kernel, from_torch, kernel

if TYPE_CHECKING:
    from hsd_core.levels.entry import StackEntry
    from hsd_core.models.compiled.profile import Profile

ROWS = (1, 2, 4, 8, 16)
CONTEXT = 128
REPEATS, WARM_UP, PROFILED = 15, 2, 7
AT_REST = 512  # positions of a pass on the way to a long text
LOOKED_UP = 4  # tokens that a lookup is asked for
LOOKUPS = 200
_NS_PER_MS = 1e6
Cell = tuple[int, int, int]  # level, length of the text, rows


@dataclass(frozen=True, slots=True)
class Work:
    """What a pass of a level has to do, whatever it takes. bytes_read: of weights, keys and values; None: not known."""

    bytes_read: int
    attended: int  # multiply-adds over keys and values
    integers: bool  # the weights are multiplied as integers


@dataclass(slots=True)
class Beds:
    """Levels of a stack at rest. `text`: ids, as long as the longest length and the most rows behind it.

    Raises:
        ValueError: a length leaves no room for the rows within the context.
    """

    entries: Sequence[StackEntry]
    text: Sequence[int]
    longest: int
    _runs: dict[int, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        last = len(self.entries) - 1
        for i, entry in enumerate(self.entries):
            if is_lookup(entry.level):
                continue
            levels = [entry.level, *([self.entries[last].level] if is_fed(entry.level) and i < last else [])]
            runs = list(open_levels(levels, len(self.text)))  # the last level's first
            for run in runs:
                for end in range(AT_REST, self.longest + AT_REST, AT_REST):
                    if run.cached < (end := min(end, self.longest)):
                        run.score(list(self.text[:end]))
            self._runs[i] = runs[::-1]

    @property
    def levels(self) -> list[int]:
        """Those with passes."""
        return list(self._runs)

    def shorten(self, length: int) -> None:
        """Stand behind a shorter text from now on."""
        for runs in self._runs.values():
            for run in runs:
                run.keep(length, ())

    def one(self, i: int, length: int, rows: int) -> float:
        """ms of one pass of level i with so many rows."""
        run = self._runs[i][0]
        context, tree = list(self.text[: length + 1]), named(self.text[length + 1 : length + rows])
        began = time.perf_counter_ns()
        run.score(context, tree)
        took = time.perf_counter_ns() - began
        run.keep(length, ())
        return took / _NS_PER_MS

    def close(self) -> None:
        for runs in self._runs.values():
            for run in runs:
                run.close()


@dataclass(slots=True)
class Timed:
    """ms of passes of one cell, ms of profiled ones beside them, and the kernels of each of those; empty for a level
    without products that a profiler of the CPU sees."""

    ms: list[float] = field(default_factory=list)
    profiled_ms: list[float] = field(default_factory=list)
    kernels: list[list[Kernel]] = field(default_factory=list)


def time_passes(
    entries: Sequence[StackEntry],
    again: Sequence[StackEntry],
    profile: Profile,
    text: Sequence[int],
    lengths: Sequence[int],
    rows: Sequence[int],
    *,
    tell: Callable[[int, int], None] = lambda *_: None,
) -> dict[Cell, Timed]:
    """Passes of every level that has some, behind every length, with every number of rows.

    Args:
        again: the same levels, their compiled decoders opened with `profile`; models of torch's are read by torch's
            own profiler. They are measured in turn with the others: what slows the machine down slows both.
    """
    beds, profiled = Beds(entries, text, max(lengths)), Beds(again, text, max(lengths))
    found: dict[Cell, Timed] = {}
    heads = [heads_of(entry.level) for entry in again]
    try:
        for number, length in enumerate(sorted(lengths, reverse=True)):
            for each in (beds, profiled):
                each.shorten(length)
            for turn in range(-WARM_UP, REPEATS):
                for i, n in ((i, n) for i in beds.levels for n in rows):
                    cell = (i, length, n)
                    timed, ms = found.setdefault(cell, Timed()), beds.one(*cell)
                    if turn >= 0:
                        timed.ms.append(ms)
                    if (known := heads[i]) is not None and turn < PROFILED:
                        _profiled(profiled, cell, known, profile, timed if turn >= 0 else Timed())
            tell(number + 1, len(lengths))
    finally:
        beds.close()
        profiled.close()
    for asked, nodes in profile.close():
        if asked is not None:
            kernels, known = asked
            kernels += [kernel(x.op, x.ns, x.given, x.made, known) for x in nodes]
    return found


def _profiled(beds: Beds, cell: Cell, heads: frozenset[int], profile: Profile, timed: Timed) -> None:
    """One profiled pass."""
    kernels: list[Kernel] = []
    if _is_compiled(beds.entries[cell[0]].level):
        profile.asked = (kernels, heads)
        timed.profiled_ms.append(beds.one(*cell))
        profile.asked = None
    else:
        timed.profiled_ms.append(_under_torch(beds, cell, heads, kernels))
    timed.kernels.append(kernels)


def _under_torch(beds: Beds, cell: Cell, heads: frozenset[int], kernels: list[Kernel]) -> float:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:  # type: ignore[no-untyped-call]
        ms = beds.one(*cell)
    kernels += from_torch(profiled.events(), heads)  # type: ignore[no-untyped-call]
    return ms


def _is_compiled(level: Any) -> bool:
    return hasattr(getattr(level, "decoder", None), "profile")


def _draft_of(level: Any) -> Any:
    """The trained draft that a level reads through, if it is one with weights of its own."""
    found = level.draft if isinstance(level, NanoLevel) else level.readout if isinstance(level, ExitLevel) else None
    return found if hasattr(found, "weight_bytes") else None


def heads_of(level: Any) -> frozenset[int] | None:
    """How wide its products are that give logits; None for a level without products that a profiler of the CPU sees."""
    if getattr(level, "decoder", None) is None or level.device != "cpu":
        return None
    draft = _draft_of(level)
    return frozenset({level.vocab_size} if draft is None else {len(draft.ids)})


def work_of(level: Any, length: int, rows: int) -> Work | None:
    """What a pass of a level has to read and to multiply over its keys; None for one without weights."""
    decoder = getattr(level, "decoder", None)
    if decoder is None:
        return None
    depth = 0 if isinstance(level, NanoLevel) else level.at if isinstance(level, ExitLevel) else decoder.layers
    draft = _draft_of(level)
    read = decoder.weight_bytes(depth, head=draft is None) if depth else 0
    layers = depth
    if draft is not None:
        read, layers = read + draft.weight_bytes(), depth + draft.layers
    read += decoder.cache_bytes(length + rows) * layers // decoder.layers
    shape = getattr(decoder, "shape", None)
    attended = 2 * layers * shape.heads * shape.head_size * rows * (length + rows) if shape else 0
    copies = decoder.dtype in ("int8", "int4") or isinstance(level, NanoLevel)
    return Work(read, attended, copies and _is_compiled(level))


def time_lookups(entry: StackEntry, text: Sequence[int], length: int) -> tuple[float, float]:
    """Median ms of a lookup of up to `LOOKED_UP` tokens behind so many tokens of a text, at many places of it, all of
    them in the database; and of filing a token."""
    (run,) = open_levels([entry.level], len(text))
    order, taken, filed = lookup_order(LOOKED_UP, frozenset()), list[int](), list[int]()
    held = list(text[:length])
    run.observe(Committed(held))
    for number in range(LOOKUPS):
        context = held[: length - number * max(1, length // 2) // LOOKUPS]
        began = time.perf_counter_ns()
        run.propose(context, order)
        taken.append(time.perf_counter_ns() - began)
    for token in text[length:]:
        began = time.perf_counter_ns()
        run.observe(Committed([token]))
        filed.append(time.perf_counter_ns() - began)
    run.close()
    return statistics.median(taken) / _NS_PER_MS, statistics.median(filed or [0]) / _NS_PER_MS
