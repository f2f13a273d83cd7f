"""What bounds the engine's work for a visitor: seconds, and tokens and characters of a prompt."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_S = 240.0  # of a run or a race, what is measured beside it included; loading is not counted
PROMPT_TOKENS = 2048  # on a CPU, which reads some hundred in a second
PROMPT_TOKENS_GPU = 8192
MAX_PROMPT = 8000  # characters
WIDEST_TOKEN = 6  # characters of a token, on average, of no text but code with deep indents


def within(seconds: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """`stop`, which also turns true so many seconds after it was first asked."""
    end: float | None = None

    def over() -> bool:
        nonlocal end
        now = time.monotonic()
        end = now + seconds if end is None else end
        return now > end or stop()

    return over


def prompt_tokens(device: str, most: int | None) -> int:
    """How many tokens a prompt may have on a device. most: what the operator says, None for the default."""
    return most or (PROMPT_TOKENS if device == "cpu" else PROMPT_TOKENS_GPU)


def prompt_characters(most: int | None) -> int:
    """How long a prompt may be before anybody has counted its tokens. most: as above."""
    return max(MAX_PROMPT, WIDEST_TOKEN * (most or 0))


class TimeLeft:
    """How long what is read in pieces will take yet, by the pieces so far."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._of = clock, ""
        self._begun, self._first = 0.0, 0

    def after(self, what: str, done: int, total: int) -> float | None:
        """Seconds for the rest of it; None at its first piece, behind which nothing is known."""
        now = self._clock()
        if what != self._of or done <= self._first:
            self._of, self._begun, self._first = what, now, done
            return None
        return (now - self._begun) / (done - self._first) * (total - done)
