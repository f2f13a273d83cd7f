"""The quick set here and now: 12 built-in prompts through three stacks, beside one another as `bench` measures them.

It stands in the line like any run, and its work is bounded: its own prompts, few tokens, and a time after which it ends
with the prompts that are finished. What it found travels in the run's status and is kept no longer than the run is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from app.kit.payload import status
from app.serve.engine import Job, Payload, answered, begin
from app.serve.line.known_runs import Run
from app.serve.line.run_lengths import RunKind
from app.serve.loader import Loader
from app.serve.settings import RequestError, RunRequest, check, within
from app.tabs.results import words as says
from hsd_core.core.events import Event
from hsd_core.grammar.stack_text import StackError, format_stack, parse
from hsd_core.measure import bench
from hsd_core.measure.bench.prompts import prompts_path, stacks_of_lines
from hsd_core.measure.bench.summary import as_csv, results
from hsd_core.measure.rawfile import measured_by, prompts_file, ran_on
from hsd_core.pipeline import Reading
from hsd_core.stacks.targets import preset_option

SET = "quick"
PROMPTS = 12
TOKENS = 32  # of each prompt
LONGEST_S = 300.0  # of measuring; loading is not counted
ROWS = 2  # likeliest tokens of each row that a trace keeps: the margin where a text differs
TWO_LEVELS = says.TWO_LEVELS
HOW = (
    r"printf '%s\n' {stacks} > stacks.txt && python -m hsd_core bench {option} --stacks stacks.txt "
    "--prompts quick --max-new-tokens {tokens} --no-peers --out DIR"
)


class Ended(Exception):
    """The measurement is over before its last prompt."""


@dataclass(frozen=True, slots=True)
class QuickRequest:
    """A measurement as asked for. `asked`: by what name each stack is asked for."""

    run: str
    preset: str
    asked: Mapping[str, str]
    device: str | None = None

    @property
    def command(self) -> str:
        """What measures the same from the command line."""
        return HOW.format(stacks=" ".join(self.stacks), option=preset_option(self.preset), tokens=TOKENS)

    @property
    def stacks(self) -> list[str]:
        return list(self.asked.values())

    @property
    def kind(self) -> RunKind:
        """For estimates of what it takes."""
        each = len(bench.with_plain(self.stacks))
        return RunKind("quick", self.preset, self.device, tokens=PROMPTS * TOKENS * each)

    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]:
        """What was opened, as the first line of raw results says it; then the runs of one prompt after another.

        Raises:
            ValueError: a stack cannot be built; the message names the cure.
        """
        for stack in self.stacks:
            pipeline.entries(stack)
        return self._measured(pipeline, stop)

    def _measured(self, pipeline: Any, stop: Callable[[], bool]) -> Generator[Any, None, None]:
        yield {
            **measured_by("bench", self.command),
            "preset": self.preset,
            "device": pipeline.device,
            "dtype": pipeline.dtype,
            "max_new_tokens": TOKENS,
            **ran_on(pipeline.device),
            **prompts_file(prompts_path(SET)),
            "stacks": bench.with_plain(self.stacks),
            "asked": dict(self.asked),
        }
        over = within(LONGEST_S, stop)

        def runner(stack: str, prompt: str) -> Iterator[Event]:
            yield from pipeline.run(stack, prompt, max_new_tokens=TOKENS, heads=ROWS, stop=over)
            if over():
                raise Ended

        each = len(bench.with_plain(self.stacks))
        with suppress(Ended), closing(bench.sweep(runner, self.stacks, bench.read_prompts(SET))) as runs:
            while batch := list(islice(runs, each)):
                yield batch


def chosen(preset: str, catalogue: list[dict[str, Any]], reports: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The stacks that are measured: the preset's default and the best of two levels, which plain decoding joins.

    Args:
        reports: bundled benchmarks; the quickest stack of two levels in those of the preset is taken, else the first
            of the preset's examples.
    Raises:
        RequestError: the preset cannot be used here.
    """
    entry = next((p for p in catalogue if p["name"] == preset), None)
    default = str(entry["default_stack"]) if entry else "target"
    _check(preset, default, catalogue)
    found = stacks_of_lines(["default"], default, preset)
    pairs = _pairs(preset, reports) + [example["stack"] for example in entry["stacks"]] if entry else []
    for stack in pairs:
        with suppress(StackError, RequestError):
            text = format_stack(parse(stack))
            alike = len(parse(text)) == 2 and bench.plain_of(text) == bench.plain_of(default)
            if alike and text not in found.values():
                _check(preset, text, catalogue)
                return {**found, TWO_LEVELS: text}
    return found


def _pairs(preset: str, reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """Stacks that were measured with this preset, the largest gain first."""
    rows = [row for one in reports if one["about"]["preset"] == preset for row in one["stacks"]]
    return [str(row["stack"]) for row in sorted(rows, key=lambda row: -row["speed_up"])]


def _check(preset: str, stack: str, catalogue: list[dict[str, Any]]) -> None:
    check(RunRequest(run="", prompt="", stack=stack, preset=preset), catalogue)


@answered
def measure(loader: Loader, request: QuickRequest, run: Run) -> Iterator[Payload]:
    """Payloads of a measurement: how far it is, and at last what it found, in the status."""
    parts = yield from begin(loader, request, run)
    if parts is None:
        return
    run.state = _progress(0, None)
    yield run.said()
    with closing(parts):
        about, records, began, done = next(parts), list[dict[str, Any]](), time.monotonic(), 0
        for done, batch in enumerate(parts, 1):
            records += [asdict(one) for one in batch]
            # The first prompt was run twice: its first runs warmed up.
            run.state = _progress(done, (time.monotonic() - began) / (done + 1) * (PROMPTS - done))
            yield run.said()
    run.state = _found(about, records, done, stopped=run.stopped.is_set())
    yield run.said(final=True)


QUICK = Job("quick", QuickRequest, measure)


def _progress(done: int, left: float | None) -> dict[str, Any]:
    said = says.progress(done, PROMPTS)
    return status("live", said, phase="measuring", done=done, of=PROMPTS, left=left)


def _found(about: dict[str, Any], records: list[dict[str, Any]], done: int, *, stopped: bool) -> dict[str, Any]:
    """The last status. What was stopped, or took too long, says of how many prompts its figures are."""
    if done:
        found = results(about, records)
        said = says.measured(done, PROMPTS, stopped=stopped, seconds=LONGEST_S)
        return status("live", said, phase="done", done=done, of=PROMPTS, results=found, csv=as_csv(found))
    if stopped:
        return status("idle", says.STOPPED)
    return status("error", says.nothing_finished(LONGEST_S, about["command"]))
