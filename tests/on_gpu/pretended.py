"""A module of Python's over the pretended GPU: `python -m tests.on_gpu.pretended MODULE ...`."""

from __future__ import annotations

import runpy
import sys

import torch

from hsd_core.models import machine
from hsd_core.models.gpu import graphs
from tests.pretend_gpu import NAME, pretend_gpu
from tests.recorded_graphs import RecordedGraphs

SMALL = 64  # of what is measured of the machine itself


def main() -> None:
    """Run it in this process, with a device "cuda" that lies in ordinary memory."""
    torch.set_num_threads(1)
    from hsd_core.measure.calibrate import lone_costs
    from hsd_core.measure.passes import machine_limits

    lone_costs.TURNS, lone_costs.WARM_UP, lone_costs.FEWEST, lone_costs.ROWS, lone_costs.EDGE_ROWS = (
        2,
        1,
        1,
        (1, 3),
        (2,),
    )
    machine_limits.GPU_READ_BYTES, machine_limits.GPU_SIDE, machine_limits.TRIES = 4 * SMALL, SMALL, 1
    machine.has_cuda = lambda: True  # type: ignore[assignment]
    machine.describe = lambda device="cpu": NAME  # type: ignore[assignment]
    graphs.CudaGraphs = lambda device: RecordedGraphs()  # type: ignore[misc,assignment]
    graphs.cuda_graphs = graphs.CudaGraphs  # type: ignore[assignment]
    module, *sys.argv[1:] = sys.argv[1:]
    with pretend_gpu():
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
