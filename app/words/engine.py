"""What is said of an engine that is a process of its own: how it ended, and what that means for a run."""

from __future__ import annotations

KILLED = "the engine was ended from outside, perhaps because the memory was full"
UNKNOWN_WORDS = "the engine said what this page does not understand"
ALONE = "the engine is started by the page and speaks to it alone: python app.py"
STARTING = "the engine is starting"
DOWN = (
    "the engine ended again and again and rests for two minutes; recordings, lessons, the Planner and Results work "
    "all the same"
)
TWICE = "the engine ended twice at just this request, so it is not run again; ask for something else"
LEFT_TEXT = "What it had written is kept."


def ended(why: str) -> str:
    """Of a run whose engine ended: why, and what happens next."""
    return f"{why}; it is started again, so ask once more"


def exited(code: int) -> str:
    return f"the engine ended by itself (exit code {code})"


def crashed(signal: str) -> str:
    return f"the engine crashed ({signal})"


def ended_by(signal: str) -> str:
    return f"the engine was ended ({signal})"


def silent(seconds: float) -> str:
    return f"the engine was silent for {seconds:.0f} s and was ended"


def still(seconds: float) -> str:
    return f"the engine made no step for {seconds:.0f} s and was ended"


def other_version(theirs: int, ours: int) -> str:
    return f"the engine speaks version {theirs} of the protocol and this page version {ours}; start both from one copy"


def restarting(pause: float) -> str:
    return f"the engine is started again{f' in {pause:.0f} s' if pause >= 1 else ''}"
