"""Passes of levels behind texts of several lengths, their parts by onnxruntime's profiler, and the machine's limits.

Every level is idle behind the text, in a run of its own. All levels and rows of a length, with a profiler and without,
are timed in turn. Each pass is undone.
    products    of the layers' weights
    attention   over the keys and values
    head        the product that gives the logits
    kernels     all others: norms, the activation, sums, copies
    around      the rest of the pass: binding, the embedding, Python

The machine's rates, with the threads that models use, as the best of several tries:

    read        the sum of 256 MiB of float32 (1 GiB on a GPU), more than any cache holds
    floats      a product (1024, 2048) x (2048, 1024) in float32; on a GPU in half precision, 4096 each way
    kernels     on a CPU: a large product by onnxruntime with a weight that fits into a cache; with many rows the
                kernel's peak, with `FEW` rows the most that a pass of as many can reach

Without onnxruntime the rate of floats is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from hsd_core.core.level import CommittedIds, drafter, scorer
from hsd_core.core.tree import NOTHING, named
from hsd_core.levels.memory import draft_of, pass_bytes
from hsd_core.levels.shared import open_levels
from hsd_core.measure.calibrate.reading import is_lookup, lookup_order
from hsd_core.measure.passes.passes_report import FEW, KINDS, MANY, PARTS, kernel_rate, key_of
from hsd_core.measure.timed import NS_PER_MS, in_turns, ms_of
from hsd_core.models.context import Context
from hsd_core.models.gpu.precision import HALVES, quick
from hsd_core.models.gpu.transfer import awaited
from hsd_core.models.threads import model_threads, torch_with

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry
    from hsd_core.models.compiled.node_profile import Node, NodeProfile

REPEATS, WARM_UP, PROFILED = 15, 2, 7
AT_REST = 512  # positions of a prefill pass
LOOKED_UP = 4  # tokens of a lookup
LOOKUPS = 200
Cell = tuple[int, int, int]  # level, length of the text, rows


class IdleLevel:
    """An idle level behind a text. For one that reads the target's states, the target has read `ahead` more tokens:
    the level reads several of these in one pass, but its own guesses one at a time."""

    def __init__(self, level: Any, target: Any, text: Sequence[int], ahead: int) -> None:
        self._ahead = ahead if level.about.fed and level is not target else 0
        levels = [level, target] if self._ahead else [level]
        self._runs, self._text, self._length = [*open_levels(levels, len(text))], list(text), 0

    def rest(self, length: int) -> None:
        """Read the first `length` tokens of the text, at least as many as before."""
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
    """ms of passes of one cell, ms of profiled ones, and the kernels of each of these; empty if onnxruntime does not
    run the level."""

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
    progress: Callable[[str, float, float], None] = lambda *_: None,
) -> dict[Cell, Timed]:
    """Time passes of every level with passes, behind every length, with every number of rows.

    Args:
        again: the same levels, opened with `profile` if onnxruntime runs them. text: ids, as many as the longest length
            and the most rows.
    """
    most = max(rows)
    resting = {
        i: IdleLevel(e.level, entries[-1].level, text, most) for i, e in enumerate(entries) if not is_lookup(e.level)
    }
    profiled = {i: IdleLevel(again[i].level, again[-1].level, text, most) for i in resting if head_of(again[i].level)}
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
        progress("passes", number, len(lengths))
    for asked, nodes in profile.close():
        if asked is not None:
            asked += nodes
    return found


def _both(level: IdleLevel, profiled: IdleLevel | None, rows: int, profile: NodeProfile, timed: Timed) -> float:
    """ms of one pass, after a profiled one until there are enough of these."""
    if profiled is not None and len(timed.nodes) < WARM_UP + PROFILED:
        profile.asked = []
        timed.nodes.append(profile.asked)
        timed.profiled_ms.append(profiled.one(rows))
        profile.asked = None
    return level.one(rows)


def head_of(level: Any) -> int | None:
    """The width of the logits of a level that onnxruntime runs; None for others."""
    if not hasattr(getattr(level, "decoder", None), "profile"):
        return None
    draft = draft_of(level)
    return int(level.vocab_size) if draft is None else len(draft.ids)


def part_of(node: Node, head: int) -> tuple[str, int]:
    """The part that a kernel belongs to, and its multiply-adds with weights. head: see `head_of`."""
    if node.op == "GroupQueryAttention":
        return "attention", 0
    if node.op.startswith("MatMul"):
        return "head" if node.made[-1] == head else "products", prod(node.made) * node.given[-1]
    return "kernels", 0


def split_by_part(ms: float, passes: Sequence[Sequence[Node]], head: int) -> tuple[dict[str, float], int]:
    """ms of an unprofiled pass by part, and its multiply-adds.

    A part takes its median over the profiled passes. If the kernels of a profiled pass take longer than a full pass
    without profiler, all are scaled to fit, as the profiler slows all alike.
    """
    counts = [[(*part_of(node, head), node.ns) for node in nodes] for nodes in passes]
    sums = {part: [sum(ns for own, _, ns in nodes if own == part) for nodes in counts] for part in PARTS[:-1]}
    found = {part: median(each) / NS_PER_MS for part, each in sums.items()}
    if (total := sum(found.values())) > ms:
        found = {part: spent * ms / total for part, spent in found.items()}
    found["around"] = max(0.0, ms - sum(found.values()))
    return found, max(sum(products for _, products, _ in nodes) for nodes in counts)


def pass_record(level: Any, length: int, rows: int, timed: Timed, limits: Mapping[str, float]) -> dict[str, Any]:
    """The record of a pass: "ms"; "parts", "profiled_ms" and "least", null if unknown; "multiplies": multiply-adds with
    weights per ms, "reached" here, and by its kernel alone with "few" and "many" rows."""
    ms, head = median(timed.ms), head_of(level)
    work = work_of(level, length, rows) if hasattr(getattr(level, "decoder", None), "shape") else None
    parts, products = (dict[str, float](), 0) if head is None else split_by_part(ms, timed.nodes, head)
    if not products:  # unknown (torch runs the draft): reading is the limit, as rows are few
        return {"ms": ms, "parts": None, "profiled_ms": None, "least": work and work.least(limits, 0)}
    assert work is not None
    found = {"ms": ms, "parts": parts, "profiled_ms": median(timed.profiled_ms), "least": work.least(limits, products)}
    kernel = {name: kernel_rate(limits, work.kind, n) for name, n in (("few", FEW), ("many", MANY))}
    return {**found, "multiplies": {"reached": products / (parts["products"] + parts["head"]), **kernel}}


def lookup(level: Any, text: Sequence[int]) -> dict[str, float]:
    """Median ms of a lookup of up to `LOOKED_UP` tokens at many places of a text that is in the database, and of adding
    a token."""
    (run,) = open_levels([level], len(text))
    order, step = lookup_order(LOOKED_UP, frozenset()), max(1, len(text) // 2)
    filed = [ms_of(run.observe, CommittedIds([token])) for token in text]
    asked = [Context(text[: len(text) - number * step // LOOKUPS]) for number in range(LOOKUPS)]
    return {"ms": median(ms_of(drafter(run).propose, context, order) for context in asked), "filed_ms": median(filed)}


READ_BYTES = 2**28
M, K, N = 1024, 2048, 1024
GPU_READ_BYTES, GPU_SIDE = 2**30, 4096
TRIES = 9


@torch.inference_mode()
def measured_limits(device: str = "cpu") -> dict[str, float]:
    """Bytes read and multiply-adds of floats per ms, measured in about a second."""
    torch_with(model_threads())
    here = device == "cpu"
    m, k, n = (M, K, N) if here else (GPU_SIDE,) * 3
    memory = torch.ones((READ_BYTES if here else GPU_READ_BYTES) // 4, device=device)
    kept = torch.float32 if here else HALVES[quick("bfloat16", device)]
    a, b = (torch.randn(size, device=device).to(kept) for size in ((m, k), (k, n)))

    def best(call: Callable[..., torch.Tensor], *given: object) -> float:
        return min(ms_of(lambda: awaited(call(*given))) for _ in range(TRIES))

    return {"bytes_per_ms": memory.nbytes / best(memory.sum), "floats_per_ms": m * k * n / best(torch.matmul, a, b)}


class PassWork(NamedTuple):
    """The work of a level's pass. bytes_read: of weights, keys and values. attended: float multiply-adds over keys and
    values. kind: of the weights, in `KINDS`."""

    bytes_read: int
    attended: int
    kind: str

    def least(self, limits: Mapping[str, float], products: int) -> dict[str, Any]:
        """The least ms for reading, and for multiplying (products: multiply-adds with weights); both overlap."""
        floats = kernel_rate(limits, "float32", MANY) or limits["floats_per_ms"]
        read_ms = self.bytes_read / limits["bytes_per_ms"]
        multiply_ms = products / (kernel_rate(limits, self.kind, MANY) or floats) + self.attended / floats
        binds = "reading" if read_ms >= multiply_ms else "products"
        return {"read_ms": read_ms, "multiply_ms": multiply_ms, "ms": max(read_ms, multiply_ms), "binds": binds}


def work_of(level: Any, length: int, rows: int) -> PassWork:
    """The work of a pass of `rows` rows behind `length` tokens, for a level over a decoder."""
    decoder, draft, layers = level.decoder, draft_of(level), level.about.layers
    if draft is not None:
        layers += draft.layers
    read = (pass_bytes(level) or 0) + decoder.cache_bytes(length + rows) * layers // decoder.layers
    attended = 2 * layers * decoder.shape.heads * decoder.shape.head_size * rows * (length + rows)
    own = str(decoder.dtype) if level.about.layers else "int8"  # a draft without the decoder's layers is int8
    return PassWork(read, attended, own if own in KINDS else "float32")


SIDE = 1024  # inputs and outputs


def kernel_rates() -> dict[str, float]:
    """Multiply-adds per ms of a product by kind and rows, with the threads that models use, the best of several tries;
    empty without onnxruntime."""
    try:
        from hsd_core.models.compiled.graph import Graph
        from hsd_core.models.compiled.products import product, smoothed_kind
        from hsd_core.models.compiled.session import Session
    except ImportError:
        return {}
    from hsd_core.models.threads import model_threads

    weight, found = torch.randn(SIDE, SIDE, generator=torch.Generator().manual_seed(0)), {}
    for kind in KINDS:
        graph = Graph()
        x = graph.input("x", "float32", (1, "n", SIDE))
        made = product(weight, smoothed_kind() if kind == "int8" else kind)(graph, "weight", x)
        graph.put("Identity", [made], [graph.output("y", (1, "n", SIDE))])
        bound = Session(graph, model_threads()).bound()
        for rows in (MANY, FEW):
            given, output = torch.randn(1, rows, SIDE), torch.empty(1, rows, SIDE)
            bound.input("x", given)
            bound.output("y", output)
            bound()
            found[key_of(kind, rows)] = rows * SIDE * SIDE / min(ms_of(bound) for _ in range(TRIES))
    return found
