"""What this machine reads and multiplies, and the least time that a pass can take here.

Rates are measured with the threads that models run on, as the best of several tries:

    read        the sum of 256 MiB of float32, on a GPU of 1 GiB, which no cache holds
    floats      a product (1024, 2048) x (2048, 1024) in float32; on a GPU of halves, 4096 each way
    kernels     on a CPU: one large product through onnxruntime, its weight small enough for a cache; with many rows the
                most that the kernel does here, with `FEW` rows the most that a pass of as many can reach

Where onnxruntime is not installed, the rate of floats counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from hsd_core.levels.memory import draft_of, pass_bytes
from hsd_core.measure.passes.passes_report import FEW, KINDS, MANY, kernel_rate, key_of
from hsd_core.measure.timed import ms_of
from hsd_core.models.gpu.precision import HALVES, quick
from hsd_core.models.gpu.transfer import awaited
from hsd_core.models.threads import model_threads, torch_with

READ_BYTES = 2**28
M, K, N = 1024, 2048, 1024
GPU_READ_BYTES, GPU_SIDE = 2**30, 4096
TRIES = 9


@torch.inference_mode()
def measured_limits(device: str = "cpu") -> dict[str, float]:
    """Bytes that are read and multiply-adds of floats in a ms: measured in about a second."""
    torch_with(model_threads())
    here = device == "cpu"
    m, k, n = (M, K, N) if here else (GPU_SIDE,) * 3
    memory = torch.ones((READ_BYTES if here else GPU_READ_BYTES) // 4, device=device)
    kept = torch.float32 if here else HALVES[quick("bfloat16", device)]
    a, b = (torch.randn(size, device=device).to(kept) for size in ((m, k), (k, n)))

    def best(call: Callable[..., torch.Tensor], *given: object) -> float:
        return min(ms_of(lambda: awaited(call(*given))) for _ in range(TRIES))

    return {
        "bytes_per_ms": memory.nbytes / best(memory.sum),
        "floats_per_ms": m * k * n / best(torch.matmul, a, b),
    }


class PassWork(NamedTuple):
    """What a pass of a level has to do, whatever it takes. bytes_read: of weights, keys and values. attended:
    multiply-adds over keys and values, of floats. kind: of `KINDS`, how the weights are multiplied."""

    bytes_read: int
    attended: int
    kind: str

    def least(self, limits: Mapping[str, float], products: int) -> dict[str, Any]:
        """ms for reading, and for multiplying so many pairs of numbers with weights and `attended` more; both can go on
        at once."""
        floats = kernel_rate(limits, "float32", MANY) or limits["floats_per_ms"]
        read_ms = self.bytes_read / limits["bytes_per_ms"]
        multiply_ms = products / (kernel_rate(limits, self.kind, MANY) or floats) + self.attended / floats
        binds = "reading" if read_ms >= multiply_ms else "products"
        return {"read_ms": read_ms, "multiply_ms": multiply_ms, "ms": max(read_ms, multiply_ms), "binds": binds}


def work_of(level: Any, length: int, rows: int) -> PassWork:
    """Of a pass of so many rows behind a text, of a level over a decoder."""
    decoder, draft, layers = level.decoder, draft_of(level), level.about.layers
    if draft is not None:
        layers += draft.layers
    read = (pass_bytes(level) or 0) + decoder.cache_bytes(length + rows) * layers // decoder.layers
    attended = 2 * layers * decoder.shape.heads * decoder.shape.head_size * rows * (length + rows)
    own = (
        str(decoder.dtype) if level.about.layers else "int8"
    )  # a draft that runs none of the decoder's layers is kept so
    return PassWork(read, attended, own if own in KINDS else "float32")


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
