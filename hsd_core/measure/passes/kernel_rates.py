"""What the kernels of passes multiply on this machine, apart from any pass: one large product through onnxruntime.

The weight is small enough for a cache, so that multiplying it is what takes the time: with many rows that is the most
that the kernel does here, with `FEW` rows the most that a pass of so many rows can reach.
"""

from __future__ import annotations

import torch

from hsd_core.measure.passes.least_time import TRIES
from hsd_core.measure.passes.more_rows import FEW, KINDS, MANY, key_of
from hsd_core.measure.timed import ms_of

SIDE = 1024  # inputs and outputs


def kernel_rates() -> dict[str, float]:
    """Multiply-adds in a ms of a product by kind and rows, with the threads that models run on; the best of several
    tries. None of any where onnxruntime is not installed."""
    try:
        from hsd_core.models.compiled.graph import Graph
        from hsd_core.models.compiled.products import product
        from hsd_core.models.compiled.session import Session
    except ImportError:
        return {}
    from hsd_core.models.threads import model_threads

    weight, found = torch.randn(SIDE, SIDE, generator=torch.Generator().manual_seed(0)), {}
    for kind in KINDS:
        graph = Graph()
        x = graph.input("x", "float32", (1, "n", SIDE))
        made = product(weight, kind)(graph, "weight", x)
        graph.put("Identity", [made], [graph.output("y", (1, "n", SIDE))])
        bound = Session(graph, model_threads()).bound()
        for rows in (MANY, FEW):
            given, taken = torch.randn(1, rows, SIDE), torch.empty(1, rows, SIDE)
            bound.input("x", given)
            bound.output("y", taken)
            bound()
            found[key_of(kind, rows)] = rows * SIDE * SIDE / min(ms_of(bound) for _ in range(TRIES))
    return found
