"""Milliseconds of 100 linear layers by kernel and rows: a measurement, no test.

    python -m tests.measuring.kernel_times

Every layer has weights of its own, so that they come from memory as in a model, not from a cache.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from hsd_core.models.lean.linear import Int4, Int8, Packed, Plain

LAYERS, INPUTS, OUTPUTS, REPEATS = 100, 576, 1536, 15
ROWS = (1, 2, 4, 8, 16)


def milliseconds(layers: list[Callable[[torch.Tensor], torch.Tensor]], rows: int) -> float:
    """The median of `REPEATS` passes through all layers."""
    x = torch.randn(rows, INPUTS)
    taken = []
    for repeat in range(REPEATS + 2):
        start = time.perf_counter()
        for layer in layers:
            layer(x)
        if repeat > 1:
            taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> None:
    print(f"{LAYERS} layers of {INPUTS} -> {OUTPUTS}, ms for " + " / ".join(map(str, ROWS)) + " rows")
    for name, kind in (("F.linear, float32", Plain), ("oneDNN prepacked", Packed), ("int8", Int8), ("int4", Int4)):
        layers = [kind(torch.randn(OUTPUTS, INPUTS)) for _ in range(LAYERS)]
        with torch.inference_mode():
            print(f"{name:20}" + " / ".join(f"{milliseconds(layers, rows):.0f}" for rows in ROWS), flush=True)


if __name__ == "__main__":
    main()
