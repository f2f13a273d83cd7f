"""This machine measured in about 20 seconds, so that the default stack is planned for it.

It stands in the line like any run, so it is never beside a visitor's; it can be stopped, and then keeps nothing. What
it found is kept on the machine, for everybody who comes after.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from app.kit.payload import status
from app.serve.engine import PERIOD_S, Job, Payload, answered, begin
from app.serve.line.known_runs import Run
from app.serve.line.run_lengths import RunKind
from app.serve.loader import Loader
from app.serve.settings import RunRequest, check, within
from app.tabs.planner import words as says
from hsd_core.pipeline import Reading

LONGEST_S = 90.0  # of measuring; loading is not counted
STAGES = {"texts": 0.3, "acceptances": 0.2, "costs": 0.2, "runs": 0.3}  # shares of the time, about


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The levels of a preset's default stack, `stack`, to be measured here."""

    run: str
    preset: str
    stack: str
    device: str | None = None

    @property
    def stacks(self) -> Sequence[str]:
        return [self.stack]

    @property
    def kind(self) -> RunKind:
        """For estimates of what it takes."""
        return RunKind("measure", self.preset, self.device)

    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]:
        """How much of it is done, from 0 to 1, now and then; at last the default stack that it plans.

        Raises:
            ValueError: the stack cannot be built; the message names the cure.
        """
        pipeline.entries(self.stack)
        return _measured(pipeline, stop)


def _measured(pipeline: Any, stop: Callable[[], bool]) -> Generator[Any, None, None]:
    from hsd_core.measure.calibrate.profiling import calibrate_default

    told, left = SimpleQueue[float](), threading.Event()
    over = within(LONGEST_S, lambda: left.is_set() or stop())
    with ThreadPoolExecutor(1, thread_name_prefix="measure") as thread:
        try:
            work = thread.submit(calibrate_default, pipeline, progress=lambda *step: told.put(_share(*step)), stop=over)
            while not work.done():
                try:
                    yield told.get(timeout=PERIOD_S)
                except Empty:
                    continue
            work.result()
        finally:
            left.set()
    yield pipeline.default.as_dict()


def _share(stage: str, done: float, of: float) -> float:
    names = list(STAGES)
    if stage not in STAGES:
        return 0.0
    before = sum(STAGES[name] for name in names[: names.index(stage)])
    return before + STAGES[stage] * (done / of if of else 0.0)


def asked_for(run: str, preset: str, catalogue: list[dict[str, Any]]) -> MeasureRequest:
    """What a page asks for, checked.

    Raises:
        RequestError: the preset cannot be used here.
    """
    entry = next((one for one in catalogue if one["name"] == preset), {})
    asked = MeasureRequest(run, preset, str(entry.get("preset_stack") or "target"))
    check(RunRequest(run="", prompt="", stack=asked.stack, preset=preset), catalogue)
    return asked


@answered
def measure_here(loader: Loader, request: MeasureRequest, run: Run) -> Iterator[Payload]:
    """Payloads of a measurement: how far it is, and at last the default stack, in the status."""
    from hsd_core.core.driver import Stopped

    parts = yield from begin(loader, request, run)
    if parts is None:
        return
    run.state, last = _progress(0.0), 0.0
    yield run.said()
    with closing(parts):
        try:
            for part in parts:
                if isinstance(part, dict):
                    run.state = status("live", says.MEASURED_HERE, phase="done", preset=request.preset, default=part)
                elif (now := time.monotonic()) - last >= PERIOD_S:
                    run.state, last = _progress(part), now
                    yield run.said()
        except Stopped:
            stopped = run.stopped.is_set()
            said = says.MEASURING_STOPPED if stopped else says.measuring_too_long(LONGEST_S, request.preset)
            run.state = status("idle" if stopped else "error", said)
    yield run.said(final=True)


MEASURE = Job("measure", MeasureRequest, measure_here)


def _progress(share: float) -> dict[str, Any]:
    return status("live", says.MEASURING, phase="measuring", share=round(share, 3))
