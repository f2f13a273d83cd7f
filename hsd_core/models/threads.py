"""How many threads a pass may use, and that only one library holds them.

Torch's threads turn in place for a while behind every parallel operation, in case there is another. A pass of
onnxruntime that begins meanwhile shares its cores with them: on two cores it takes 1.3 to 2 times as long. So torch
works alone around compiled passes, on small rows, and with all threads in models of its own.
"""

from __future__ import annotations

from functools import cache

import torch

from hsd_core.models.machine import cores_given


@cache
def model_threads() -> int:
    """Threads of a model's pass: as many as torch was given when this was first asked, and no more than a container is
    given time for: the system would halt them all until the next tenth of a second."""
    return min(torch.get_num_threads(), cores_given() or torch.get_num_threads())


def torch_with(threads: int) -> None:
    """Let torch use so many threads from now on, in the thread that calls."""
    model_threads()  # is asked before the number changes
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
