"""Many requests at once: a visitor's stack and plain decoding of its target, each in one batch over shipped prompts.

Who asks chooses the stack, and one of `LOADS`; texts, their lengths and the time are bounded. Events are sent as they
happen, and the figures of both batches at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.kit.payload import status
from app.serve.engine import PERIOD_S, Job, Payload, answered, begin
from app.serve.line.known_runs import Run
from app.serve.line.run_lengths import RunKind
from app.serve.loader import Loader
from app.serve.offer import meant
from app.serve.settings import LONGEST_S, RequestError, RunRequest, check, parse, within
from app.tabs.race import words as says
from hsd_core.grammar.stack_text import StackError, format_stack
from hsd_core.grammar.stack_text import parse as parse_stack
from hsd_core.pipeline import Reading
from hsd_core.stacks.targets import preset_option
from hsd_core.typed import builtins

if TYPE_CHECKING:
    from hsd_core.core.clock import EngineClock
    from hsd_core.core.events import Event

LOADS = (1, 4, 8, 32)  # requests at once
LOAD_TOKENS = 32  # of each text, at most


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """So many requests at once, as asked for. own: a run of the stack; its prompt is not read."""

    own: RunRequest
    load: int

    @property
    def run(self) -> str:
        return self.own.run

    @property
    def preset(self) -> str:
        return self.own.preset

    @property
    def device(self) -> str | None:
        return self.own.device

    @property
    def stacks(self) -> list[str]:
        return [self.own.stack]

    @property
    def kind(self) -> RunKind:
        """For estimates of what it takes."""
        return RunKind("load", self.preset, self.device, tokens=2 * self.load * LOAD_TOKENS)

    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]:
        """Build the levels; then a `Load` without figures, `LoadEvent`s, and a `Load` with them if both batches ended.

        Raises:
            ValueError: the stack cannot be built, or the memory does not hold a batch; the message names the cure.
        """
        from hsd_core.measure.race import load_race as races

        stack = self.own.stack
        stacks, prompts = races.sides(stack), races.load_prompts(self.load)
        races.refuse_too_large(pipeline, stacks, prompts, LOAD_TOKENS)
        head = races.Load(races.SCHEMA, self.preset, self.load, stacks, LOAD_TOKENS, races.openings(prompts))
        return self._raced(pipeline, stop, head, prompts)

    def _raced(
        self, pipeline: Any, stop: Callable[[], bool], head: Any, prompts: list[str]
    ) -> Generator[Any, None, None]:
        from msgspec.structs import replace as changed

        from hsd_core.measure.race import load_race as races
        from hsd_core.measure.rawfile import now, ran_on

        over = within(LONGEST_S, stop)

        def runner(stack: str, prompt: str, *, clock: EngineClock, stop: Callable[[], bool]) -> Iterator[Event]:
            def ends() -> bool:
                return stop() or over()  # the batch's own first: by it a run lets the others go on

            given: dict[str, Any] = {"max_new_tokens": LOAD_TOKENS, "heads": 0, "earlier": ()}
            return pipeline.run(stack, prompt, clock=clock, stop=ends, **given)  # type: ignore[no-any-return]

        yield head
        with closing(races.load_race(runner, head.stacks[1], prompts, repeats=1)) as running:
            for one in running:
                if over():
                    return
                if isinstance(one, races.Repeat):
                    where = {"device": pipeline.device, "dtype": pipeline.dtype, **ran_on(pipeline.device)}
                    yield changed(head, repeats=(one.batches,), recorded=now(), **where)
                else:
                    yield one


def load_asked_for(data: Any, catalogue: list[dict[str, Any]]) -> LoadRequest:
    """
    Args:
        data: as the page sends it: run, preset, device, stack and load; nothing else is read.
    Raises:
        RequestError: it cannot be run; the message names what was given and the cure.
    """
    data = data if isinstance(data, Mapping) else {}
    load = data.get("load")
    if not isinstance(load, int) or isinstance(load, bool) or load not in LOADS:
        raise RequestError(says.loads(LOADS))
    named = {name: data.get(name) for name in ("run", "preset", "device", "stack")}
    own = parse({**named, "prompt": "-", "baseline": False, "max_new_tokens": LOAD_TOKENS})
    try:
        specs = parse_stack(own.stack)
    except StackError as error:
        raise RequestError(says.cannot_race(own.stack, error)) from error
    if len(specs) < 2:
        raise RequestError(says.PLAIN_ALONE)
    own = meant(own, catalogue)
    check(own, catalogue)
    return LoadRequest(replace(own, stack=format_stack(parse_stack(own.stack))), load)


@answered
def stream(loader: Loader, request: LoadRequest, run: Run) -> Iterator[Payload]:
    """Payloads of such a race."""
    parts = yield from begin(loader, request, run)
    if parts is None:
        return
    run.state = status("live", says.progress(0, 1), phase="load")
    done, sent, tokens, read = False, 0.0, [0, 0], [0, 0]
    with closing(parts):
        for part in parts:
            run.live.append(record := builtins(part))
            done = done or bool(record.get("repeats"))
            event, side = record.get("of", {}), record.get("side", 0)
            if event.get("event") == "prefill" and event["level"] == 0:
                read[side] += 1
                run.state = status("live", says.load_reading(side, read[side], request.load), phase="load")
            elif event.get("event") == "commit":
                tokens[side] += len(event["tokens"])
                said = says.load_progress(side, tokens[side], request.load * LOAD_TOKENS)
                run.state = status("live", said, phase="load")
            if time.monotonic() - sent >= PERIOD_S:
                yield run.wrote()
                sent = time.monotonic()
    run.state = _ending(request, done, stopped=run.stopped.is_set())
    yield run.wrote(final=True)


LOAD = Job("load", LoadRequest, stream)


def _ending(request: LoadRequest, done: bool, *, stopped: bool) -> dict[str, Any]:
    if done:
        return status("live", says.LOADED, phase="done")
    if stopped:
        return status("idle", says.STOPPED)
    command = f"python -m hsd_core race {preset_option(request.preset)} {request.own.stack} --load {request.load}"
    return status("error", says.load_too_long(LONGEST_S, command))
