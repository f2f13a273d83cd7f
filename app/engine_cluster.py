"""The process between the page and a Ray cluster: `ADDRESS LEAST MOST CPUS GPUS`, the last two "" for what fits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from app.serve.engines.cluster.relaying import relay
from app.serve.jobs import Job


def jobs() -> tuple[Any, Mapping[str, Job[Any]]]:
    """What a replica works with; called where it is."""
    from app.engine_process import JOBS
    from hsd_core.pipeline import Pipeline

    return Pipeline, JOBS


def main(address: str, least: str, most: str, cpus: str, gpus: str) -> None:
    from app.serve.engines.cluster.deployed import deploy
    from app.serve.engines.named import Replicas

    replicas = Replicas(int(least), int(most), float(cpus) if cpus else None, float(gpus) if gpus else None)
    relay(partial(deploy, address, replicas, jobs))


if __name__ == "__main__":
    # A replica looks for `jobs` by the name of this module, which is not `__main__` there.
    from app import engine_cluster

    engine_cluster.main(*sys.argv[1:])
