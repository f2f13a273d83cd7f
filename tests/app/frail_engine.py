"""An engine's process whose pipeline needs no weights and works as slowly as its prompt says; what kills it is real.

Started as `python -m tests.app.frail_engine`. Its preset is "frail"; a preset that begins with "slow" is opened as
long as somebody waits, and `missing_weights` names weights of that name, which are fetched as long.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from pagekit import plain_run

from app.serve.engine import RUN
from app.serve.engines.attending import attend
from hsd_core.core.events import Commit, Event
from hsd_core.models.weights import Source

ROUND_S = 0.05


class Frail:
    """`prompt` says what happens: "read" stays in the prompt, "write" writes for ever, "short" ends, "sleep" makes no
    step, "exit" ends the process, "long" writes 40 tokens, "fail" raises in the middle; "1 2 3" are ids, after which a
    small model writes."""

    @staticmethod
    def catalogue() -> list[dict[str, Any]]:
        return []

    @staticmethod
    def missing_weights(preset: str, stacks: Sequence[str], **_: Any) -> list[Source]:
        return [Source("hub", f"a/{preset}", preset)] if preset.startswith("slow") else []

    @staticmethod
    def fetch(source: Source, progress: Callable[[str, float, float], None]) -> None:
        while True:
            progress("convert", 1.0, 2.0)
            time.sleep(ROUND_S)

    @classmethod
    def open(cls, preset: str, **_: Any) -> Frail:
        return cls()

    def entries(self, stack: str) -> Any:
        return small_stack(stack) if stack != "target" else []

    def run(
        self, stack: str, prompt: str, *, stop: Callable[[], bool], reading: Any = None, **more: Any
    ) -> Iterator[Event]:
        if stack != "target":
            yield from self._written(stack, prompt, stop, more)
            return
        events = plain_run(["a "] * 40 if prompt == "long" else ["a ", "tower ", "of ", "levels "])
        if prompt == "exit":
            os._exit(7)
        if prompt == "sleep":
            stop()
            time.sleep(600)
        while prompt == "read" and not stop():
            reading("target", 1, 2)
            time.sleep(ROUND_S)
        for event in events[:-1]:
            if prompt == "write" and isinstance(event, Commit):
                time.sleep(4 * ROUND_S)  # longer than payloads are apart: each commit reaches the page
            yield event
            if prompt == "long" and isinstance(event, Commit):
                time.sleep(ROUND_S / 5)
                stop()
        while prompt == "write" and not stop():
            time.sleep(ROUND_S)
        yield events[-1]

    def _written(self, stack: str, prompt: str, stop: Callable[[], bool], more: dict[str, Any]) -> Iterator[Event]:
        import hsd_core
        from hsd_core.models.sampling import Sampling

        ids = [int(one) for one in prompt.split() if one != "fail"]
        timed = {"clock": more["clock"]} if "clock" in more else {}
        tokens = more["max_new_tokens"]
        for event in hsd_core.run(
            small_stack(stack), ids, Sampling(0.0), 0, max_new_tokens=tokens, stop=stop, heads=2, **timed
        ):
            yield event
            if isinstance(event, Commit):
                time.sleep(ROUND_S / 10)
                if prompt.startswith("fail") and event.round == 3:
                    raise ValueError("it failed in round 3")


@cache
def small_stack(text: str) -> Any:
    """A stack over a random model, built once."""
    from lean_stacks import LeanStacks

    return LeanStacks(vocab=61).stack(text)


if __name__ == "__main__":
    attend(Frail, {"run": RUN})
