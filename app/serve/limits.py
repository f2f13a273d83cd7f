"""What bounds the engine's work for a visitor: seconds, and tokens of a prompt."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_S = 240.0  # of a run or a race, what is measured beside it included; loading is not counted
PROMPT_TOKENS = 2048  # on a CPU, which reads some hundred in a second
PROMPT_TOKENS_GPU = 8192


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
