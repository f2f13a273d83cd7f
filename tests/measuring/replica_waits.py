"""How long visitors wait in front of 1, 4 and 16 engines: a SIMULATION with service times that were measured.

    python -m tests.measuring.replica_waits [--runs FILE] [--stack S] [--thinks 60] [--visitors 10 40 160]

Each visitor asks for a run, waits for its turn, reads for a while (exponential, `--thinks` seconds in the mean), and
asks again; engines take whoever came first. How long a run takes is drawn from a benchmark's raw runs: the stack and,
as on the page, plain decoding beside it, each with its prompt. Nothing is served: what the line, the network and
loading add is left out, so a real server is slower.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, quantiles

RUNS = Path(__file__).parents[2] / "assets" / "results" / "smollm2-spec-bench-avx512" / "runs.jsonl"
HOURS = 4.0
ENGINES = (1, 4, 16)


def service_times(runs: Path, stack: str) -> list[float]:
    """Seconds of a run of each prompt: the stack, and plain decoding beside it."""
    took: dict[int, dict[str, float]] = {}
    for line in runs.read_text(encoding="utf-8").splitlines()[1:]:
        run = json.loads(line)
        if "prefill_ns" in run:  # not a line on another program
            took.setdefault(run["prompt"], {})[run["stack"]] = (run["prefill_ns"] + run["decode_ns"]) / 1e9
    return [by[stack] + by["target"] for by in took.values() if stack in by and "target" in by]


def waits(takes: Sequence[float], engines: int, visitors: int, thinks: float, *, hours: float = HOURS) -> list[float]:
    """Seconds that each run of so many hours waited for its turn, the first quarter of an hour left out."""
    chance = random.Random(0)
    free = [0.0] * engines
    asks = [chance.expovariate(1 / thinks) for _ in range(visitors)]
    heapq.heapify(asks)
    waited = []
    while asks[0] < hours * 3600:
        came = heapq.heappop(asks)
        begins = max(came, heapq.heappop(free))
        ends = begins + chance.choice(takes)
        heapq.heappush(free, ends)
        heapq.heappush(asks, ends + chance.expovariate(1 / thinks))
        if came > 900:
            waited.append(begins - came)
    return waited


def main() -> None:
    parser = argparse.ArgumentParser(description="Waiting times by a simulation.")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--stack", default="ngram:3,int8:6,target")
    parser.add_argument("--thinks", type=float, default=60.0, metavar="S")
    parser.add_argument("--visitors", type=int, nargs="+", default=[10, 40, 160])
    asked = parser.parse_args()
    takes = service_times(asked.runs, asked.stack)
    print(f"simulated; a run takes {fmean(takes):.1f} s in the mean ({len(takes)} measured)\n")
    print("| visitors |" + "".join(f" {n} engine{'s' * (n > 1)} |" for n in ENGINES))
    print("|---|" + "---|" * len(ENGINES))
    for visitors in asked.visitors:
        cells = []
        for engines in ENGINES:
            waited = waits(takes, engines, visitors, asked.thinks)
            cells.append(f" {fmean(waited):.1f} s, {quantiles(waited, n=20)[-1]:.1f} s |")
        print(f"| {visitors} |" + "".join(cells))


if __name__ == "__main__":
    main()
