"""What is said of engines on the machines of a cluster."""

from collections.abc import Sequence

NO_RAY = "--engine ray needs Ray, which is not installed here: pip install -r app/requirements-ray.txt"
HANGS = "the run at work has made no step for too long"
SILENT = "the Ray cluster does not answer any more"


def no_engine(name: str, engines: Sequence[str]) -> str:
    return f"there is no engine {name!r}; the engines are {', '.join(engines)}"


def replicas(given: str, most: int) -> str:
    return f"--replicas is {given!r}; write a number from 1 to {most}, or the least and the most, such as 1-4"


def each(given: str) -> str:
    return f"--each is {given!r}; write cpus=2, gpus=1, or both with a comma between"


def lost(kind: str) -> str:
    """Of a run whose replica ended. kind: the cluster's own word for it."""
    return f"the engine that wrote this ended ({kind})"


def unreachable(address: str, why: str) -> str:
    where = f"no Ray cluster answers at {address}" if address else "Ray could not be started on this machine"
    return f"{where}: {why}"
