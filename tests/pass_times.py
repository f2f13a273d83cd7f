"""Milliseconds of one pass of SmolLM2 by decoder, dtype and rows: `python -m tests.pass_times`. Asserts nothing.

Beside them the memory's limit: the bytes of the weights over the bandwidth at which they can be read here. Rounds go
through all decoders in turn, so that a slow minute of the machine falls on all of them.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from hsd_core.models import load_decoder
from hsd_core.models.passes import Pass
from hsd_core.models.threads import model_threads
from hsd_core.models.weights import ensure
from hsd_core.stacks.presets import PRESETS

ROWS = (1, 2, 3, 4, 6, 8, 12, 16)
ROUNDS, START = 9, 96
# bits a weight takes in the layers, and in the head: with scales, and what 4 bits leave of the offsets
BITS = {
    "lean float32": (32, 32),
    "lean int8": (8, 32),
    "lean int4": (5, 32),
    "compiled float32": (32, 32),
    "compiled int8": (9, 9),
    "compiled int4": (6.125, 9),
}


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def bandwidth() -> float:
    """Bytes that can be read in a millisecond."""
    memory = torch.ones(64 << 20)
    return 4 * memory.numel() / min(milliseconds(memory.sum) for _ in range(9))


def main() -> None:
    folder = ensure(PRESETS["smollm2"].target, lambda *_: None)
    per_ms = bandwidth()
    rows = " / ".join(map(str, ROWS))
    print(f"{model_threads()} threads, memory at {per_ms / 1e6:.1f} GB/s; ms for {rows} rows")
    decoders: dict[str, tuple[Any, Any]] = {}
    for name in sys.argv[1:] or BITS:
        kind, dtype = name.split()
        decoder = load_decoder(folder, kind=kind, dtype=dtype)
        cache = decoder.new_cache(START + max(ROWS))
        decoder.forward(Pass(range(1000, 1000 + START)), cache)
        decoders[name] = decoder, cache
    taken: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for name, (decoder, cache) in decoders.items():
            for n in ROWS:
                given = Pass(range(2000, 2000 + n), START, n)
                found = taken.setdefault((name, n), [])
                found += (milliseconds(lambda: decoder.forward(given, cache)) for _ in range(3))  # noqa: B023
    for name, (decoder, _) in decoders.items():
        head = decoder.shape.vocab_size * decoder.shape.hidden
        layers = 106_203_000  # weights of SmolLM2's products but the head's
        limit = (layers * BITS[name][0] + head * BITS[name][1]) / 8 / per_ms
        figures = " ".join(f"{statistics.median(taken[name, n]):6.1f}" for n in ROWS)
        least = " ".join(f"{min(taken[name, n]):6.1f}" for n in ROWS)
        print(f"{name:18}{figures}   least {least}   limit {limit:.1f}")


if __name__ == "__main__":
    main()
