"""The engine's process: started by the page, which it speaks to over its standard streams."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from app.serve.engine import RUN, Job
from app.serve.engines.attending import attend
from app.serve.watch.logs import VARIABLE, structured
from app.tabs.planner.measuring import MEASURE
from app.tabs.race.live import RACE
from app.tabs.race.load_job import LOAD
from app.tabs.results.quick import QUICK
from hsd_core.pipeline import Pipeline

JOBS = {job.name: job for job in (RUN, RACE, LOAD, QUICK, MEASURE)}


def works() -> tuple[Any, Mapping[str, Job[Any]]]:
    """What an engine works with: the class that opens presets, and what may be asked for, by name."""
    return Pipeline, JOBS


if __name__ == "__main__":
    if os.environ.get(VARIABLE) == "json":
        structured()
    attend(*works())
