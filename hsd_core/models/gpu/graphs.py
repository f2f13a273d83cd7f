"""CUDA graphs: the kernels of a pass, recorded once and launched together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import torch

WARM_UP = 2  # calls before recording: libraries choose kernels and allocate memory in the first ones

Replay = Callable[[], object]


class Graphs(Protocol):
    """Records passes. Tests use an implementation without a GPU."""

    def capture(self, run: Callable[[], None]) -> Replay:
        """Record the operations of `run`. The result repeats them on the same memory, with its values at that time.

        `run` is called several times. It may read and write only memory that outlives it, and must not branch on
        values.

        Raises:
            RuntimeError: an operation cannot be recorded; the message names it.
        """


@cache
def cuda_graphs(device: str) -> CudaGraphs:
    """The graphs of a GPU, shared by all models on it."""
    return CudaGraphs(device)


class CudaGraphs:
    """Graphs of one GPU. Temporary memory comes from one pool, as they run one after another.

    All are recorded on one stream: cuBLAS keeps a workspace for every stream it was called on, 32 MiB on Hopper, until
    the process ends.
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
            # thread_local: other threads run passes meanwhile
            with torch.cuda.graph(graph, pool=self._pool, stream=aside, capture_error_mode="thread_local"):
                run()
        return graph.replay  # type: ignore[no-any-return]
