"""Graphs without a GPU: what a pass did is recorded operation by operation, and replayed in the same memory.

As a CUDA graph does: a replay runs no line of Python of the pass, reads and writes the tensors that the recording saw,
and puts every result where it lay then. What is not a part of the recording (a value that Python looked at, a copy that
was forgotten, an input in other memory) is as it was. What CUDA refuses to record is refused: to read a value, and to
read memory of the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from tests.pretend_gpu import OnGpu

Step = tuple[Callable[..., Any], Any, Any, Any]


class RecordedGraphs:
    """`Graphs`. captured, replayed: how often. fails: the number of the capture that cannot be made, from 0."""

    def __init__(self, fails: int | None = None) -> None:
        self.captured = self.replayed = 0
        self._fails = fails

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        run()  # as real ones are warmed up
        stream: Any = torch.cuda.current_stream()  # the pretended GPU's
        with Recording() as recording:
            before = stream.waits.total()
            run()
            if stream.waits.total() > before:
                raise RuntimeError("operation not permitted when stream is capturing: it waits")
            if self._fails == self.captured:
                raise RuntimeError("operation not permitted when stream is capturing\nCompile with TORCH_USE_CUDA_DSA")
        self.captured += 1

        def replay() -> None:
            self.replayed += 1
            recording.replay()

        return replay


class Recording(TorchDispatchMode):
    """What is done while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[Step] = []
        self._made: dict[int, Tensor] = {}  # results, kept so that no other tensor takes their place

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, func._schema.name
        for one in tree_flatten((args, kwargs))[0]:
            if isinstance(one, Tensor) and one.dim() and not (isinstance(one, OnGpu) or one.data_ptr() in self._made):
                raise RuntimeError(f"{name}: a graph can't read memory of the CPU")
        out = func(*args, **kwargs)
        for one in tree_flatten(out)[0]:
            if isinstance(one, Tensor):
                self._made[one.data_ptr()] = one
        self._steps.append((func, args, kwargs, out))
        return out

    @torch.inference_mode()
    def replay(self) -> None:
        with torch._C.DisableTorchFunction():
            for func, args, kwargs, out in self._steps:
                again = func(*args, **kwargs)
                for old, new in zip(tree_flatten(out)[0], tree_flatten(again)[0], strict=True):
                    if isinstance(old, Tensor) and old.data_ptr() != new.data_ptr():  # a view and what is in place stay
                        old.copy_(new)
