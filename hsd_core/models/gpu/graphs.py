"""CUDA graphs: the kernels of a pass, recorded once and launched as one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import torch

WARM_UP = 2  # calls before the recording: libraries choose kernels and take memory in their first ones

Replay = Callable[[], object]


class Graphs(Protocol):
    """What records passes. Tests put one in its place that needs no GPU."""

    def capture(self, run: Callable[[], None]) -> Replay:
        """Record what `run` does to memory. The result does the same to the same memory, whatever lies there by then.

        `run` is called several times. It may read and write what outlives it, and nothing of it may depend on values.

        Raises:
            RuntimeError: it does something that cannot be recorded; the message says what.
        """


@cache
def cuda_graphs(device: str) -> CudaGraphs:
    """Those of a GPU, the same for all models on it."""
    return CudaGraphs(device)


class CudaGraphs:
    """Graphs of one GPU. What they need in between lies in one pool, as they run one after another.

    All are recorded on one stream: cuBLAS keeps a workspace for every stream that it was called on, 32 MiB on Hopper,
    for as long as the process lives.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._pool: Any = None
        self._aside: Any = None
        self._recording = threading.Lock()

    def capture(self, run: Callable[[], None]) -> Replay:
        """See `Graphs.capture`."""
        with self._recording, torch.cuda.device(self._device):
            if self._pool is None:
                self._pool, self._aside = torch.cuda.graph_pool_handle(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside = self._aside
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(WARM_UP):
                    run()
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            # thread_local: other runs go on meanwhile in threads of their own
            with torch.cuda.graph(graph, pool=self._pool, stream=aside, capture_error_mode="thread_local"):
                run()
        return graph.replay  # type: ignore[no-any-return]
