"""The quick set of the Results tab, and the machines that have not been measured."""

from __future__ import annotations

MACHINES = {"cpu": "a CPU", "cuda": "a CUDA GPU"}
TWO_LEVELS = "best of two levels"
STOPPED = "stopped before the first prompt was finished"


def progress(done: int, of: int) -> str:
    return f"prompt {min(done + 1, of)} of {of}" if done else f"warming up, then prompt 1 of {of}"


def measured(done: int, of: int, *, stopped: bool, seconds: float) -> str:
    """`seconds`: how long measuring may take."""
    if done >= of:
        return f"{done} prompts measured"
    early = f"stopped after {done}" if stopped else f"ended after {seconds:.0f} s with {done}"
    return f"{early} of {of} prompts"


def nothing_finished(seconds: float, command: str) -> str:
    return f"no prompt finished in {seconds:.0f} s; measure with {command}"
