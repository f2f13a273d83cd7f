"""What is said of an engine that is a process of its own, or several on a cluster: how it ended, and what that means
for a run."""

from __future__ import annotations

from collections.abc import Sequence

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
NO_SPACES = "--engine zerogpu is for a Space on ZeroGPU, which brings the package `spaces`; leave the option out here"
ASKS_FOR_GPU = "asking for a graphics card"
CARD_TIME_IS_OVER = "the time on the card that was asked for is over; ask again, or for fewer tokens"
NO_RAY = "--engine ray needs Ray, which is not installed here: pip install -r app/requirements-ray.txt"
HANGS = "the run at work has made no step for too long"
SILENT = "the Ray cluster does not answer any more"


def ended(why: str) -> str:
    """Of a run whose engine ended: why, and what happens next."""
    return f"{why}; it is started again, so ask once more"


def unstarted(why: str) -> str:
    """Of a run whose engine could not be started: why, and what works all the same."""
    return f"{why}; recordings, lessons, the Planner and Results work all the same"


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
    return (
        f"the engine speaks version {theirs} of the protocol and this page version {ours}: the program was changed "
        "while it ran. Start the server again, so that both are of one copy"
    )


def restarting(pause: float) -> str:
    return f"the engine is started again{f' in {pause:.0f} s' if pause >= 1 else ''}"


def no_engine(name: str, engines: Sequence[str]) -> str:
    return f"there is no engine {name!r}; the engines are {', '.join(engines)}"


def replicas(given: str, most: int) -> str:
    return f"--replicas is {given!r}; write a number from 1 to {most}, or the least and the most, such as 1-4"


def batch(given: str, most: int) -> str:
    return f"--batch (or HSD_BATCH) is {given[:20]!r}; write how many runs share passes, 1 to {most}, such as 4"


def no_batch(batch: int, engine: str) -> str:
    cure = (
        "give it --replicas, and leave --batch (or HSD_BATCH) out"
        if engine.startswith("ray")
        else ("leave it (or HSD_BATCH) out")
    )
    return f"--batch {batch} joins passes in an engine's own process, not with --engine {engine}; {cure}"


def each(given: str) -> str:
    return f"--each is {given!r}; write cpus=2, gpus=1, or both with a comma between"


def no_gpu(why: str) -> str:
    return f"no graphics card for this run: {why}; recordings, lessons, the Planner and Results need none"


def short_quota(asked: int, left: int, wait: str, fewer: bool) -> str:
    """Of a visitor's quota: seconds that the run asks for and that are left, until when it grows, and whether a shorter
    run may be within it."""
    cure = "ask for fewer tokens, or again in" if fewer else "ask again in"
    return f"this run asks for {asked} s of your ZeroGPU quota, which has {left} s left; {cure} {wait}"


def lost_gpu(why: str) -> str:
    return f"the graphics card was taken from this run: {why}"


def lost(kind: str) -> str:
    """Of a run whose replica ended. kind: the cluster's own word for it."""
    return f"the engine that wrote this ended ({kind})"


def unreachable(address: str, why: str) -> str:
    where = f"no Ray cluster answers at {address}" if address else "Ray could not be started on this machine"
    return f"{where}: {why}"
