"""The process between the page and a Ray cluster: `ADDRESS LEAST MOST CPUS GPUS`, the last two "" for what fits."""

from __future__ import annotations

import sys
from functools import partial

from app.engine_process import works
from app.serve.engines.cluster.relaying import relay
from app.serve.engines.named import Replicas


def main(address: str, least: str, most: str, cpus: str, gpus: str) -> None:
    """Be that process until the page ends."""
    from app.serve.engines.cluster.deployed import deploy  # seconds, which the page hears of

    replicas = Replicas(int(least), int(most), float(cpus) if cpus else None, float(gpus) if gpus else None)
    relay(partial(deploy, address, replicas, works))


if __name__ == "__main__":
    main(*sys.argv[1:])
