"""A race as a visitor asks for it: every lane is checked like a run, and the work is bounded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from app.serve.line.known_runs import Written
from app.serve.line.run_lengths import RunKind
from app.serve.offer import meant
from app.serve.settings import LONGEST_S, RequestError, RunRequest, check, parse, within
from app.tabs.race import words as says
from hsd_core.core.events import Event
from hsd_core.grammar.stack_text import StackError, format_stack
from hsd_core.grammar.stack_text import parse as parse_stack
from hsd_core.measure import race
from hsd_core.measure.race.racing import raced
from hsd_core.pipeline import Reading

TOKENS = 128  # of a text, at most
REPEATS = 5  # at most


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """A race as asked for: a run for each lane, all alike but for their stacks."""

    lanes: tuple[RunRequest, ...]
    repeats: int

    @property
    def looks_back(self) -> bool:
        return any(lane.looks_back for lane in self.lanes)

    def behind(self, earlier: tuple[Written, ...]) -> RaceRequest:
        """The same race, every lane behind those."""
        return replace(self, lanes=tuple(lane.behind(earlier) for lane in self.lanes))

    @property
    def run(self) -> str:
        return self.lanes[0].run

    @property
    def preset(self) -> str:
        return self.lanes[0].preset

    @property
    def device(self) -> str | None:
        return self.lanes[0].device

    @property
    def stacks(self) -> list[str]:
        return [lane.stack for lane in self.lanes]

    @property
    def tokens(self) -> int:
        return self.lanes[0].max_new_tokens

    @property
    def kind(self) -> RunKind:
        """For estimates of what it takes."""
        return RunKind("race", self.preset, self.device, tokens=self.tokens * len(self.lanes) * self.repeats)

    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]:
        """Build the levels of all lanes; then the turns, and at last the race.

        Raises:
            ValueError: a stack cannot be built, or the memory does not hold all lanes; the message names the cure.
        """
        asked, stacks = self.lanes[0], self.stacks
        for stack in stacks:
            pipeline.entries(stack)
        most = len(pipeline.encode(asked.prompt, raw=asked.raw)) + self.tokens
        race.refuse_too_large([pipeline.memory(stack, most) for stack in stacks], most, pipeline.device)
        return self._raced(pipeline, stop, reading)

    def _raced(self, pipeline: Any, stop: Callable[[], bool], reading: Reading | None) -> Generator[Any, None, None]:
        over = within(LONGEST_S, stop)

        def opened(stack: str, tokens: int) -> Generator[Event, None, None]:
            own = next(lane for lane in self.lanes if lane.stack == stack)
            return replace(own, max_new_tokens=tokens).start(pipeline, stop=over, reading=reading)

        heats, asked = list[race.Heat](), self.lanes[0]
        stacks = self.stacks
        with closing(race.race(opened, stacks, tokens=self.tokens, repeats=self.repeats)) as running:
            for one in running:
                if over():
                    break
                if isinstance(one, race.Heat):
                    heats.append(one)
                else:
                    yield one
        if heats and not stop():
            yield raced(
                heats,
                stacks,
                device=pipeline.device,
                dtype=pipeline.dtype,
                prompt=asked.prompt,
                raw=asked.raw,
                title=says.OWN_RACE,
            )


def asked_for(data: Any, catalogue: list[dict[str, Any]]) -> RaceRequest:
    """
    Args:
        data: as the page sends it: a run's settings, with `stacks` in place of `stack`, and `repeats`.
    Raises:
        RequestError: it cannot be run; the message names what was given and the cure.
    """
    data = data if isinstance(data, Mapping) else {}
    stacks, repeats = data.get("stacks"), data.get("repeats", 1)
    least, most = race.LANES
    if not isinstance(stacks, list) or not least <= len(stacks) <= most:
        raise RequestError(says.how_many(least, most))
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= REPEATS:
        raise RequestError(says.repeats(REPEATS))
    lanes: list[RunRequest] = []
    for stack in stacks:
        lane = parse({**data, "stack": stack, "baseline": False, "depths": False, "replan": False, "detail": "full"})
        try:
            parse_stack(lane.stack)
        except StackError as error:
            raise RequestError(says.cannot_race(lane.stack, error)) from error
        lane = meant(lane, catalogue)
        check(lane, catalogue)
        if lanes and lane.preset != lanes[0].preset:
            raise RequestError(says.two_targets(lanes[0].preset, lane.preset))
        text = format_stack(parse_stack(lane.stack))
        if any(text == other.stack for other in lanes):
            raise RequestError(says.twice(text))
        lanes.append(replace(lane, stack=text, max_new_tokens=min(TOKENS, lane.max_new_tokens)))
    return RaceRequest(tuple(lanes), repeats)
