"""The engines by name, as an operator chooses one, and how many of them a cluster is to have."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec

from app.words import engine as says

MOST = 64  # replicas, or runs whose passes are joined
_AMOUNT = re.compile(r"\d{1,3}(\.\d{1,3})?")
PROCESS, INLINE, ZEROGPU, RAY = "process", "inline", "zerogpu", "ray"
AT = "ray://"  # and HOST:PORT of a cluster's head
ENGINES = (PROCESS, INLINE, ZEROGPU, RAY, f"{AT}HOST:PORT")


class EngineError(ValueError):
    """An engine that cannot be had; the message says why, and the cure."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many engines of a cluster, and what each is given; None for a GPU where the cluster has one, else two
    cores."""

    least: int = 1
    most: int = 1
    cpus: float | None = None
    gpus: float | None = None

    @classmethod
    def of(cls, many: str, each: str) -> Replicas:
        """From the command line: `4` or `1-4`, and `cpus=2`, `gpus=1` or both with a comma; "" for the default.

        Raises:
            EngineError: it is neither.
        """
        numbers = [int(part) if part.strip().isdecimal() else -1 for part in (many or "1").split("-")]
        least, most = numbers[0], numbers[-1]
        if len(numbers) > 2 or not (0 <= least <= most and 1 <= most <= MOST):
            raise EngineError(says.replicas(many, MOST))
        given: dict[str, float] = {}
        for part in filter(None, each.split(",")):
            name, _, amount = part.strip().partition("=")
            if name not in ("cpus", "gpus") or not _AMOUNT.fullmatch(amount) or not float(amount):
                raise EngineError(says.each(each))
            given[name] = float(amount)
        return cls(least, most, **given)


ONE = Replicas()


def batch_of(text: str, engine: str) -> int:
    """How many runs' passes are joined, from the command line.

    Raises:
        EngineError: it is no such number, or this engine joins none.
    """
    batch = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= batch <= MOST:
        raise EngineError(says.batch(text, MOST))
    if batch > 1 and engine != PROCESS:
        raise EngineError(says.no_batch(batch, engine))
    return batch


def check_engine(name: str) -> None:
    """
    Raises:
        EngineError: there is no such engine, or it needs what is not installed.
    """
    host, colon, port = name.removeprefix(AT).rpartition(":")
    at = name.startswith(AT) and colon and host and port.isdecimal() and 0 < int(port) < 2**16
    if name not in ENGINES[:-1] and not at:
        raise EngineError(says.no_engine(name, ENGINES))
    if name.startswith(RAY) and find_spec("ray") is None:
        raise EngineError(says.NO_RAY)
    if name == ZEROGPU and find_spec("spaces") is None:
        raise EngineError(says.NO_SPACES)


def usual() -> str:
    """The engine where none is asked for."""
    return ZEROGPU if os.environ.get("SPACES_ZERO_GPU") else PROCESS
