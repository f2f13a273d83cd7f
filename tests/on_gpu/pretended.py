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
    from hsd_core.measure.calibrate import isolated_costs
    from hsd_core.measure.passes import level_passes

    (
        isolated_costs.TURNS,
        isolated_costs.WARM_UP,
        isolated_costs.FEWEST,
        isolated_costs.ROWS,
        isolated_costs.EDGE_ROWS,
    ) = (
        2,
        1,
        1,
        (1, 3),
        (2,),
    )
    level_passes.GPU_READ_BYTES, level_passes.GPU_SIDE, level_passes.TRIES = 4 * SMALL, SMALL, 1
    machine.has_cuda = lambda: True  # type: ignore[assignment]
    machine.describe = lambda device="cpu": NAME  # type: ignore[assignment]
    graphs.CudaGraphs = lambda device: RecordedGraphs()  # type: ignore[misc,assignment]
    graphs.cuda_graphs = graphs.CudaGraphs  # type: ignore[assignment]
    module, *sys.argv[1:] = sys.argv[1:]
    with pretend_gpu():
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
