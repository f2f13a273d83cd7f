"""The engine's process: started by the page, which it speaks to over its standard streams."""

from __future__ import annotations

import os

from app.race.live import RACE
from app.results.quick import QUICK
from app.serve.engines.attending import attend
from app.serve.live_run import RUN
from app.serve.watch.logs import VARIABLE, structured
from hsd_core.pipeline import Pipeline

JOBS = {job.name: job for job in (RUN, RACE, QUICK)}

if __name__ == "__main__":
    if os.environ.get(VARIABLE) == "json":
        structured()
    attend(Pipeline, JOBS)
