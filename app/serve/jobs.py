"""What the engine can be asked to do, and what an engine is to the page: the same wherever it works."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Generic, Literal, Protocol

from app.serve.engine import EngineWork, Payload, W
from app.serve.line.known_runs import Run
from app.serve.loader import Loader


@dataclass(frozen=True, slots=True)
class Job(Generic[W]):
    """A kind of work.

    Attributes:
        name: by which another process knows it.
        request: the type of what is asked for, of plain values, so that it can cross to another process.
        write: the payloads of a run of it, the last one final; it works in the engine's thread.
    """

    name: str
    request: type[W]
    write: Callable[[Loader, W, Run], Generator[Payload, None, None]]


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """How an engine is. state: "down" is one that is not started again before long; memory: bytes of its process, 0
    where that is not known; model: the preset that it opened last, "" for none."""

    state: Literal["ok", "starting", "restarting", "down"] = "ok"
    pid: int = 0
    restarts: int = 0
    memory: int = 0
    model: str = ""


class Engine(Protocol):
    """Works for runs, and fetches weights beside them. Its coroutines belong to the server's event loop."""

    @property
    def health(self) -> EngineHealth: ...

    @property
    def here(self) -> bool:
        """Whether it runs on this machine, whose profiles the page plans with."""
        ...

    @property
    def places(self) -> int:
        """How many runs it works on at a time."""
        ...

    def start(self) -> None:
        """Be ready before the first run asks; returns at once."""
        ...

    def lacks(self, request: EngineWork) -> bool:
        """Whether weights that it needs are not on the disk yet. Instant."""
        ...

    def fetch(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        """Have the weights on the disk that a run needs, telling how far that is. Where that cannot be, the run's state
        has mode "error" in the end; where the run is stopped before, fetching ends unless others wait for the same."""
        ...

    def work(self, job: Job[W], request: W, run: Run) -> AsyncGenerator[Payload, None]:
        """Payloads of a run, whose turn has come; the last one is final, and the run is done then, whatever happened.
        Closing it ends the run."""
        ...

    def close(self, grace: float) -> None:
        """End, within so many seconds."""
        ...
