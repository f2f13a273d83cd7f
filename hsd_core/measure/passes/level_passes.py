"""Passes of levels as a run pays for them, behind texts of some lengths, and their parts by onnxruntime's profiler.

Every level is at rest behind the text, in a run of its own. All levels and rows of a length, with a profiler and
without, are gone through in turn. Each pass is undone.
    products    of the layers' weights
    attention   over the keys and values
    head        the product that gives the logits
    kernels     all others: norms, the activation, sums, copies
    around      what is left of the pass: binding, the embedding, Python
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod
from statistics import median
from typing import TYPE_CHECKING, Any

from hsd_core.core.level import CommittedIds, drafter, scorer
from hsd_core.core.tree import NOTHING, named
from hsd_core.levels.memory import draft_of
from hsd_core.levels.shared import open_levels
from hsd_core.measure.calibrate.reading import is_lookup, lookup_order
from hsd_core.measure.passes.machine_limits import work_of
from hsd_core.measure.passes.passes_report import FEW, MANY, PARTS, kernel_rate
from hsd_core.measure.timed import NS_PER_MS, in_turns, ms_of
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import awaited

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry
    from hsd_core.models.compiled.node_profile import Node, NodeProfile

REPEATS, WARM_UP, PROFILED = 15, 2, 7
AT_REST = 512  # positions of a pass on the way to a long text
LOOKED_UP = 4  # tokens that a lookup is asked for
LOOKUPS = 200
Cell = tuple[int, int, int]  # level, length of the text, rows


class LevelAtRest:
    """A level at rest behind a text. One that reads the target's states has the target beside it, `ahead` by so many
    tokens: behind it the level reads several in one pass, of its own guesses one at a time."""

    def __init__(self, level: Any, target: Any, text: Sequence[int], ahead: int) -> None:
        self._ahead = ahead if level.about.fed and level is not target else 0
        levels = [level, target] if self._ahead else [level]
        self._runs, self._text, self._length = [*open_levels(levels, len(text))], list(text), 0

    def rest(self, length: int) -> None:
        """Stand behind so much of the text from now on, no less than before."""
        self._length = length
        *before, own = self._runs
        for run, end in (*((run, length + self._ahead) for run in before), (own, length)):
            while run.cached < end:
                scorer(run).score(Context(self._text[: min(run.cached + AT_REST, end)]))

    def one(self, rows: int) -> float:
        """ms of one pass."""
        run, at = self._runs[-1], self._length + (rows if self._ahead else 1)
        context, tree = Context(self._text[:at]), NOTHING if self._ahead else named(self._text[at : at - 1 + rows])
        ms = ms_of(lambda: awaited(scorer(run).score(context, tree)[0]))
        run.keep(self._length, ())
        return ms


@dataclass(slots=True)
class Timed:
    """ms of passes of one cell, ms of profiled ones beside them, and the kernels of each of those; none where
    onnxruntime runs no such pass."""

    ms: list[float] = field(default_factory=list)
    profiled_ms: list[float] = field(default_factory=list)
    nodes: list[list[Node]] = field(default_factory=list)


def time_passes(
    entries: Sequence[StackEntry],
    again: Sequence[StackEntry],
    profile: NodeProfile,
    text: Sequence[int],
    lengths: Sequence[int],
    rows: Sequence[int],
    tell: Callable[[str, float, float], None] = lambda *_: None,
) -> dict[Cell, Timed]:
    """Passes of every level that has some, behind every length, with every number of rows.

    Args:
        again: the same levels, opened with `profile` where onnxruntime runs them. text: ids, as many as the longest
            length and the most rows.
    """
    most = max(rows)
    resting = {
        i: LevelAtRest(e.level, entries[-1].level, text, most) for i, e in enumerate(entries) if not is_lookup(e.level)
    }
    profiled = {i: LevelAtRest(again[i].level, again[-1].level, text, most) for i in resting if head_of(again[i].level)}
    found: dict[Cell, Timed] = {}
    for number, length in enumerate(sorted(lengths), 1):
        for level in (*resting.values(), *profiled.values()):
            level.rest(length)
        tasks = {}
        for i, n in product(resting, rows):
            timed = found[i, length, n] = Timed()
            tasks[i, n] = partial(_both, resting[i], profiled.get(i), n, profile, timed)
        for (i, n), ms in in_turns(tasks, REPEATS, WARM_UP).items():
            timed = found[i, length, n]
            timed.ms, timed.profiled_ms, timed.nodes = ms, timed.profiled_ms[WARM_UP:], timed.nodes[WARM_UP:]
        tell("passes", number, len(lengths))
    for asked, nodes in profile.close():
        if asked is not None:
            asked += nodes
    return found


def _both(level: LevelAtRest, profiled: LevelAtRest | None, rows: int, profile: NodeProfile, timed: Timed) -> float:
    """ms of one pass; a profiled one goes before it, as often as is asked for."""
    if profiled is not None and len(timed.nodes) < WARM_UP + PROFILED:
        profile.asked = []
        timed.nodes.append(profile.asked)
        timed.profiled_ms.append(profiled.one(rows))
        profile.asked = None
    return level.one(rows)


def head_of(level: Any) -> int | None:
    """How wide the logits are of a level that onnxruntime runs."""
    if not hasattr(getattr(level, "decoder", None), "profile"):
        return None
    draft = draft_of(level)
    return int(level.vocab_size) if draft is None else len(draft.ids)


def part_of(node: Node, head: int) -> tuple[str, int]:
    """Which part a kernel is of, and its multiply-adds of weights. head: see `head_of`."""
    if node.op == "GroupQueryAttention":
        return "attention", 0
    if node.op.startswith("MatMul"):
        return "head" if node.made[-1] == head else "products", prod(node.made) * node.given[-1]
    return "kernels", 0


def parted(ms: float, passes: Sequence[Sequence[Node]], head: int) -> tuple[dict[str, float], int]:
    """ms of a pass that nobody profiled, by part, and its multiply-adds.

    A part takes its median over the profiled passes. Where the kernels of a profiled pass take longer than a whole one
    without a profile, all are scaled to fit: what stamping them adds is the same for each.
    """
    told = [[(*part_of(node, head), node.ns) for node in nodes] for nodes in passes]
    sums = {part: [sum(ns for own, _, ns in nodes if own == part) for nodes in told] for part in PARTS[:-1]}
    found = {part: median(each) / NS_PER_MS for part, each in sums.items()}
    if (total := sum(found.values())) > ms:
        found = {part: spent * ms / total for part, spent in found.items()}
    found["around"] = max(0.0, ms - sum(found.values()))
    return found, max(sum(products for _, products, _ in nodes) for nodes in told)


def taken(level: Any, length: int, rows: int, timed: Timed, limits: Mapping[str, float]) -> dict[str, Any]:
    """What is kept of a pass: "ms", and "parts", "profiled_ms" and "least", null where nobody knows; "multiplies":
    multiply-adds with weights in a ms, "reached" here and by its kernel alone with "few" and "many" rows."""
    ms, head = median(timed.ms), head_of(level)
    work = work_of(level, length, rows) if hasattr(getattr(level, "decoder", None), "shape") else None
    parts, products = (dict[str, float](), 0) if head is None else parted(ms, timed.nodes, head)
    if not products:  # where nobody tells them (torch runs the draft), what is read binds: rows are few
        return {"ms": ms, "parts": None, "profiled_ms": None, "least": work and work.least(limits, 0)}
    assert work is not None
    found = {"ms": ms, "parts": parts, "profiled_ms": median(timed.profiled_ms), "least": work.least(limits, products)}
    kernel = {name: kernel_rate(limits, work.kind, n) for name, n in (("few", FEW), ("many", MANY))}
    return {**found, "multiplies": {"reached": products / (parts["products"] + parts["head"]), **kernel}}


def lookup(level: Any, text: Sequence[int]) -> dict[str, float]:
    """Median ms of a lookup of up to `LOOKED_UP` tokens at many places of a text, all of it in the database, and of
    filing a token."""
    (run,) = open_levels([level], len(text))
    order, step = lookup_order(LOOKED_UP, frozenset()), max(1, len(text) // 2)
    filed = [ms_of(run.observe, CommittedIds([token])) for token in text]
    asked = [Context(text[: len(text) - number * step // LOOKUPS]) for number in range(LOOKUPS)]
    return {"ms": median(ms_of(drafter(run).propose, context, order) for context in asked), "filed_ms": median(filed)}
