"""What is said of engines on the machines of a cluster."""

NO_RAY = "--engine ray needs Ray, which is not installed here: pip install -r app/requirements-ray.txt"
HANGS = "the run at work has made no step for too long"
SILENT = "the Ray cluster does not answer any more"


def lost(kind: str) -> str:
    """Of a run whose replica ended. kind: the cluster's own word for it."""
    return f"the engine that wrote this ended ({kind})"


def unreachable(address: str, why: str) -> str:
    where = f"no Ray cluster answers at {address}" if address else "Ray could not be started on this machine"
    return f"{where}: {why}"
