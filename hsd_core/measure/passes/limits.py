"""The least time that a pass can take on this machine: its weights have to be read, its products multiplied.

Both rates are measured here, with the threads that models run on, as the best of several tries:

    read        the sum of 256 MiB of float32, which no cache holds
    float32     a product (1024, 2048) x (2048, 1024) by torch
    integer     the same of 8-bit numbers by onnxruntime, whose kernels multiply the copies' weights
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from importlib.util import find_spec

import torch

from hsd_core.models.threads import model_threads, torch_with

READ_BYTES = 2**28
M, K, N = 1024, 2048, 1024
TRIES = 9
_MS = 1e3


@dataclass(frozen=True, slots=True)
class Limits:
    """Of a machine: bytes that are read in a ms, multiply-adds of floats and of integers in a ms."""

    bytes_per_ms: float
    floats_per_ms: float
    integers_per_ms: float

    def best(self, other: Limits) -> Limits:
        """The higher of both, of measurements before and after what is laid beside them."""
        return Limits(*(max(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Least:
    """ms that a pass takes at least: for reading, and for multiplying. Both can go on at once."""

    read_ms: float
    multiply_ms: float

    @property
    def ms(self) -> float:
        return max(self.read_ms, self.multiply_ms)

    @property
    def binds(self) -> str:
        """Which of the two it is."""
        return "reading" if self.read_ms >= self.multiply_ms else "products"


def least(limits: Limits, read: int, products: int, *, integers: bool) -> Least:
    """Of a pass that reads so many bytes and multiplies so many pairs of numbers."""
    rate = limits.integers_per_ms if integers else limits.floats_per_ms
    return Least(read / limits.bytes_per_ms, products / rate)


def measured_limits() -> Limits:
    """Measure them: about two seconds."""
    torch_with(model_threads())
    memory, a, b = torch.ones(READ_BYTES // 4), torch.randn(M, K), torch.randn(K, N)
    with torch.inference_mode():
        read, floats = _best(memory.sum), _best(lambda: a @ b)
        integers = _integers() if find_spec("onnxruntime") else floats
    return Limits(memory.nbytes / read, M * K * N / floats, M * K * N / integers)


def _integers() -> float:
    """ms of a product of 8-bit integers, one that is read as bytes of a float's value and back included."""
    from hsd_core.models.compiled import wire
    from hsd_core.models.compiled.graph import Graph
    from hsd_core.models.compiled.session import Session

    graph = Graph()
    x = graph.op("Cast", [graph.input("x", "float32", [M, K])], to=wire.TYPES["uint8"])
    weight = graph.weight("w", torch.randint(1, 255, (K, N), dtype=torch.uint8))
    made = graph.op("MatMulInteger", [x, weight])
    graph.put("Cast", [made], [graph.output("y", [M, N])], to=wire.TYPES["float32"])
    bound = Session(graph, model_threads()).bound()
    bound.input("x", torch.randint(1, 255, (M, K)).float())
    bound.output("y", torch.empty(M, N))
    found = _best(bound)
    torch_with(model_threads())
    return found


def _best(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(TRIES):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * _MS)
    return min(taken)
