"""Where the time of a round goes: short runs, by the engine's clock and by stamps around every pass.

passes     of each level, and lookups
drawing    the rest of drafts and verifications: distributions, draws, rules
engine     all else on the engine's clock: requests, the context, cutting caches, filling databases
trace      recording events, while the engine's clock is stopped
stream     the reader of the run: ids as bytes, events as JSON lines
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from hsd_core.core.events import Commit, Draft, Event, Footer, Prefill, Verify
from hsd_core.core.level import StackEntry
from hsd_core.core.run import TOP_OF_ROW
from hsd_core.measure.timed import NS_PER_MS
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.prepared import run
from hsd_core.trace.pieces import Pieces, record
from hsd_core.typed import encode

_now = time.perf_counter_ns


class Stamped:
    """A stack with stamped passes; of levels that only draft, whole proposals are stamped.

    ns, calls: of the passes, by level.
    """

    def __init__(self, entries: Sequence[StackEntry]) -> None:
        self.entries = [replace(entry, level=self._level(i, entry.level)) for i, entry in enumerate(entries)]
        self.ns, self.calls, self._inside = [0] * len(entries), [0] * len(entries), False

    def _level(self, i: int, level: Any) -> Any:
        def opened(*given: Any) -> Any:
            run = level.open(*given)
            for name in ("score", "grow", "next_row") if level.can_verify else ("propose",):
                if hasattr(run, name):
                    setattr(run, name, self.around(i, getattr(run, name)))
            return run

        found = copy(level)
        found.open = opened
        return found

    def around(self, i: int, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, stamped as a pass of level i, unless it is inside another pass."""

        def stamped(*given: Any) -> Any:
            if self._inside:
                return call(*given)
            self._inside, began = True, _now()
            made = call(*given)
            self.ns[i] += _now() - began
            self.calls[i] += 1
            self._inside = False
            return made

        return stamped


def measure_rounds(
    entries: Sequence[StackEntry],
    prompts: Iterable[Sequence[int]],
    pieces: Pieces,
    *,
    tokens: int,
    ends: frozenset[int] = frozenset(),
) -> dict[str, Any]:
    """Run a stack greedily on every prompt, once as the page reads it and once bare, without recording rows and without
    a reader.

    Returns:
        "rounds" and "tokens" of all runs; means per round: "ms", ms of "passes" by level, their "calls", ms of
        "drawing", "engine", "trace" and "stream", and of a bare run ("bare_ms").
    """
    whole = np.zeros(7 + 2 * len(entries))
    for prompt in prompts:
        whole[1:] += _run(entries, prompt, pieces, tokens, ends)
        whole[0] += _run(entries, prompt, None, tokens, ends)[0]
    rounds, committed = whole[5:7].tolist()
    bare, ms, decode, inside, stream = (whole[:5] / NS_PER_MS / max(1, rounds)).tolist()
    passes, calls = whole[7:].reshape(2, -1) / max(1, rounds)
    passes /= NS_PER_MS
    return {
        "rounds": int(rounds),
        "tokens": int(committed),
        "ms": ms,
        "passes": passes.tolist(),
        "calls": calls.tolist(),
        "drawing": inside - float(passes.sum()),
        "engine": decode - inside,
        "trace": ms - decode - stream,
        "stream": stream,
        "bare_ms": bare,
    }


def _run(
    entries: Sequence[StackEntry], prompt: Sequence[int], pieces: Pieces | None, tokens: int, ends: frozenset[int]
) -> list[int]:
    """ns from the end of the prefill to the last commit: in total, on the engine's clock, in drafts and verifications,
    of the reader; rounds, tokens; ns of passes by level, and their number."""
    stack, heads, found = Stamped(entries), 0 if pieces is None else TOP_OF_ROW, list[int]()

    def watched() -> Generator[Event, None, None]:
        began = wall = inside = read = stream = 0
        for event in run(stack.entries, prompt, Sampling(), 0, max_new_tokens=tokens, ends=ends, heads=heads):
            now = _now()
            if isinstance(event, Prefill):
                began, inside, read = now, 0, 0
                stack.ns[:] = stack.calls[:] = [0] * len(entries)
            elif isinstance(event, Draft | Verify):
                inside += event.t1 - event.t0
            elif isinstance(event, Commit):
                wall, stream = now - began, read
            elif isinstance(event, Footer):
                found.extend([wall, event.decode_ns, inside, stream, event.rounds, event.committed])
                found.extend([*stack.ns, *stack.calls])
            yield event
            read += _now() - now

    for event in watched() if pieces is None else record(watched(), pieces):
        if pieces is not None:
            encode(event)
    return found
