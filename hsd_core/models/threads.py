"""The number of threads of a pass, used by one library at a time.

Torch's threads spin for a while after every parallel operation. A pass of onnxruntime that begins then shares its cores
with them: on two cores it takes 1.3 to 2 times as long. So torch uses one thread around compiled passes, for small
rows, and all threads in its own models.
"""

from __future__ import annotations

from functools import cache

import torch

from hsd_core.models.machine import cores_given


@cache
def model_threads() -> int:
    """Threads of a model's pass: torch's number at the first call, limited to a container's share of processor time, as
    with more threads the system would stop them all for the rest of a tenth of a second."""
    return min(torch.get_num_threads(), cores_given() or torch.get_num_threads())


def torch_with(threads: int) -> None:
    """Set torch's number of threads, for the calling thread."""
    model_threads()  # reads the number before it changes
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
