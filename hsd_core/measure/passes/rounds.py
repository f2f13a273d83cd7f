"""Where a round of a stack goes: short runs, by the engine's clock and by stamps around every pass.

passes     of each level, and lookups
drawing    what lies between them within drafts and verifications: laws, draws, rules
engine     all else by the engine's clock: requests, the context, caches cut back, databases filled
trace      writing down what happened, while the engine's clock stands still
stream     what the reader of the run does: ids as bytes, events as JSON lines
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hsd_core.engine.clock import EngineClock
from hsd_core.engine.run import TOP_OF_ROW, run
from hsd_core.levels.entry import StackEntry
from hsd_core.models.sampling import Sampling
from hsd_core.trace import Draft, Event, Footer, Prefill, Verify
from hsd_core.trace.pieces import Pieces, record
from hsd_core.trace.typed import encode

_NS_PER_MS = 1e6
_now = time.perf_counter_ns


class HeldClock(EngineClock):
    """Also says how long it has stood still."""

    @property
    def held(self) -> int:
        """ns."""
        return self._held


@dataclass(slots=True)
class Stamps:
    """ns that the passes of one level took, and how many there were; several that lie within one another are one."""

    ns: int = 0
    calls: int = 0
    _inside: bool = False

    def around(self, call: Callable[..., Any], *, whole: bool) -> Callable[..., Any]:
        """The same call, stamped. whole: it counts even if a stamped call lies within it, instead of that one."""

        def stamped(*given: Any) -> Any:
            if self._inside:
                return call(*given)
            before, self._inside, began = self.calls, whole, _now()
            made = call(*given)
            took, self._inside = _now() - began, False
            if whole or self.calls == before:
                self.ns, self.calls = self.ns + took, before + 1
            return made

        return stamped


class Stamped:
    """A level whose runs' passes are stamped. A lookup's, or any whose passes cannot be told, are whole proposals."""

    def __init__(self, level: Any, stamps: Stamps) -> None:
        self._level, self._stamps = level, stamps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._level, name)

    def open(self, capacity: int, shared: Any) -> Any:
        opened = self._level.open(capacity, shared)
        if hasattr(opened, "score"):
            opened.score = self._stamps.around(opened.score, whole=self._level.can_verify)
        if hasattr(opened, "propose"):
            opened.propose = self._stamps.around(opened.propose, whole=not self._level.can_verify)
        return opened


@dataclass(slots=True)
class Rounds:
    """ms of several runs together. passes: by level; calls: of each. bare_ms: wall time of the same runs, where nothing
    is written down of rows and nobody reads."""

    passes: list[float]
    calls: list[int]
    drawing: float = 0.0
    engine: float = 0.0
    trace: float = 0.0
    stream: float = 0.0
    bare_ms: float = 0.0
    rounds: int = 0
    tokens: int = 0

    @property
    def ms(self) -> float:
        """Of everything."""
        return sum(self.passes) + self.drawing + self.engine + self.trace + self.stream


@dataclass(slots=True)
class _Meter:
    """Of one run, from the end of its prefill on; ns."""

    clock: HeldClock
    stamps: list[Stamps]
    read: int = 0  # by the reader
    inside: int = 0  # drafts and verifications
    _start: int = 0
    footer: Footer | None = None
    _held: int = 0

    def through(self, events: Iterable[Event]) -> Generator[Event, None, None]:
        """The same events; the time until the next one is asked for is the reader's."""
        for event in events:
            began = _now()
            if isinstance(event, Prefill) and event.round is None:
                self.read = self.inside = 0
                for one in self.stamps:
                    one.ns = one.calls = 0
                self._held, self._start = self.clock.held, began
            elif isinstance(event, Draft | Verify):
                self.inside += event.t1 - event.t0
            elif isinstance(event, Footer):
                self.footer = event
            yield event
            self.read += _now() - began

    @property
    def held(self) -> int:
        return self.clock.held - self._held

    @property
    def wall(self) -> int:
        return _now() - self._start


def time_rounds(
    entries: Sequence[StackEntry],
    prompts: Iterable[Sequence[int]],
    pieces: Pieces,
    *,
    tokens: int,
    ends: frozenset[int] = frozenset(),
) -> Rounds:
    """Run a stack greedily on every prompt, once as the page reads it and once bare."""
    found = Rounds([0.0] * len(entries), [0] * len(entries))
    for prompt in prompts:
        meter = _run(entries, prompt, pieces, tokens, ends, heads=TOP_OF_ROW)
        assert meter.footer is not None
        passes = [one.ns for one in meter.stamps]
        found.passes = [ms + ns / _NS_PER_MS for ms, ns in zip(found.passes, passes, strict=True)]
        found.calls = [calls + one.calls for calls, one in zip(found.calls, meter.stamps, strict=True)]
        found.drawing += max(0, meter.inside - sum(passes)) / _NS_PER_MS
        found.engine += max(0, meter.footer.decode_ns - meter.inside) / _NS_PER_MS
        found.trace += max(0, meter.held - meter.read) / _NS_PER_MS
        found.stream += meter.read / _NS_PER_MS
        found.rounds += meter.footer.rounds
        found.tokens += meter.footer.committed
        found.bare_ms += _run(entries, prompt, None, tokens, ends, heads=0).wall / _NS_PER_MS
    return found


def _run(
    entries: Sequence[StackEntry],
    prompt: Sequence[int],
    pieces: Pieces | None,
    tokens: int,
    ends: frozenset[int],
    *,
    heads: int,
) -> _Meter:
    stamps = [Stamps() for _ in entries]
    watched: Any = [replace(entry, level=Stamped(entry.level, one)) for entry, one in zip(entries, stamps, strict=True)]
    clock = HeldClock()
    meter = _Meter(clock, stamps)
    events = run(watched, prompt, Sampling(), 0, max_new_tokens=tokens, ends=ends, heads=heads, clock=clock)
    read = meter.through(events)
    if pieces is None:
        for _ in read:
            pass
    else:
        for event in record(read, pieces):
            encode(event)
    return meter
