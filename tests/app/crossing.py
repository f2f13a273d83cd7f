"""What it costs the engine to be another process: a measurement, not a test.

    python -m tests.app.crossing [--preset smollm2] [--stack STACK] [--runs 5]

Starts the engine as the page does, has it run the same request several times, and prints how much of the time from the
first round to the last its thread spent on telling the page: packing what a run wrote, and writing it to the pipe.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from app.engine_process import JOBS
from app.serve.engines.attending import Attending
from app.serve.engines.messages import VERSION, Hello, Message, Sent
from app.serve.engines.process import ProcessEngine
from app.serve.line.known_runs import Run
from app.serve.live_run import RUN
from app.serve.settings import parse
from hsd_core.pipeline import Pipeline

TOLD = "HSD_CROSSING"  # names the file that the engine's process writes to
PROMPT = "Write a short story about a tower of levels, then write the same story again."


class Timed(Attending):
    """Adds up what it takes to tell the page what a run wrote."""

    def _tell(self, message: Message) -> None:
        began = time.perf_counter_ns()
        super()._tell(message)
        if isinstance(message, Sent):
            with Path(os.environ[TOLD]).open("a") as file:
                print(time.perf_counter_ns() - began, len(message.records), file=file)


def engine() -> None:
    sink = os.dup(1)
    os.dup2(2, 1)
    Timed(Pipeline, JOBS, sink).attend()


async def measured(options: argparse.Namespace, told: Path) -> None:
    command = [sys.executable, "-m", "tests.app.crossing", "engine"]
    made = ProcessEngine(command, Hello(VERSION), lambda request: False)
    made.start()
    asked = {"prompt": PROMPT, "preset": options.preset, "stack": options.stack, "max_new_tokens": 96}
    shares = []
    for _ in range(options.runs + 1):  # the first one loads and warms up
        told.write_text("")
        request = parse({**asked, "run": str(uuid.uuid4()), "baseline": False})
        run = Run(request.run)
        async for _ in made.work(RUN, request, run):
            pass
        events: list[dict[str, Any]] = run.records
        footer = next(e for e in events if e["event"] == "footer")
        # The last two payloads come when the text is done: the whole of it again, of which nothing crosses twice.
        sent = [int(line.split()[0]) for line in told.read_text().splitlines()][:-2]
        shares.append(sum(sent) / footer["decode_ns"])
        rounds = footer["rounds"]
        print(
            f"{rounds} rounds of {footer['decode_ns'] / rounds / 1e6:.1f} ms, {len(sent)} payloads of "
            f"{sum(sent) / len(sent) / 1e6:.2f} ms: {100 * shares[-1]:.2f} % of a round"
        )
    made.close(1.0)
    print(json.dumps({"share": sorted(shares[1:])[len(shares[1:]) // 2]}))


def main() -> None:
    if sys.argv[1:] == ["engine"]:
        engine()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2")
    parser.add_argument("--stack", default="ngram:3,int8:6,target")
    parser.add_argument("--runs", type=int, default=5)
    with tempfile.NamedTemporaryFile() as file:
        os.environ[TOLD] = file.name
        asyncio.run(measured(parser.parse_args(), Path(file.name)))


if __name__ == "__main__":
    main()
