"""A lane's process as its driver has it: spawned (a fork of a process with threads may never wake), asked, watched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

import msgspec
from torch import Tensor

from hsd_core.engine.lanes.real.lane_messages import Answer, Message, answer, pack
from hsd_core.trace.typed.frames import Frames, NotAFrame, send

_ROOT = Path(__file__).resolve().parents[4]
_MODULE = "hsd_core.engine.lanes.real.lane_process"
# One thread a lane: for OpenMP, which is also told not to turn while it waits, and for what else brings threads.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
_PIPE = 2**20  # bytes that may wait in a pipe: the rows of a pass, so that nobody waits to be rid of them
_SET_SIZE = 1031  # F_SETPIPE_SZ
LEAVES_S = 2.0
CURE = "run it again, or take --clock reckoned, which needs no second process"


class LaneEnded(RuntimeError):
    """A lane's process ended, or did not answer; the message names the lane and the cure."""


class Answered(NamedTuple):
    """An answer, what came behind it, and when it was there (ns of the machine's clock)."""

    told: Answer
    tensors: Sequence[Tensor]
    at: int


class SpawnedLane:
    """One process: what it answers is heard in a thread of its own, in the order in which it was asked.

    Args:
        name: what the lane is called in messages. hear: called with every answer, and with None at the end.
    """

    def __init__(self, name: str, hear: Callable[[Answered | None], None]) -> None:
        self.name, self._hear, self._why = name, hear, ""
        pipe = subprocess.PIPE
        # Not of the terminal's group: Ctrl+C is for the driver, at whose end this one ends.
        apart = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            bufsize=0,
            stdin=pipe,
            stdout=pipe,
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(_paths())},
            creationflags=apart,
            start_new_session=True,
        )
        self.pid = self._process.pid
        _widen(self._process)
        threading.Thread(target=self._listen, name=f"lane {name}", daemon=True).start()

    def ask(self, message: Message, tensors: Sequence[Tensor] = ()) -> None:
        """Put a question.

        Raises:
            LaneEnded: nobody is there to hear it.
        """
        try:
            send(self._process.stdin, pack(message, tensors))
        except (OSError, ValueError):
            raise self.ended() from None

    def ended(self) -> LaneEnded:
        """What is raised where it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVES_S)
        how = self._why or _in_words(self._process.returncode)
        return LaneEnded(f'the lane "{self.name}" (process {self.pid}) ended before the run did: {how}; {CURE}')

    def silent(self, seconds: float) -> LaneEnded:
        """What is raised where it does not answer."""
        return LaneEnded(f'the lane "{self.name}" (process {self.pid}) gave no answer for {seconds:.0f} s; {CURE}')

    def end(self) -> None:
        """Close its pipe, at which it ends; kill it where that takes longer than a moment."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.05)
        self._process.kill()  # it may be in the middle of a pass, and holds nothing but memory
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVES_S)

    def _listen(self) -> None:
        frames = Frames(self._process.stdout)
        try:
            while (body := frames.next()) is not None:
                at = perf_counter_ns()
                self._hear(Answered(*answer(body), at))
        except (NotAFrame, msgspec.DecodeError):
            self._why = "it said what is no answer"
            self._process.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._hear(None)


def _paths() -> list[str]:
    """Where the process finds us, whatever folder it is started in."""
    return [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]


def _widen(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "linux":
        import fcntl

        for end in (process.stdin, process.stdout):
            with suppress(OSError):  # more than the system allows
                assert end is not None
                fcntl.fcntl(end.fileno(), _SET_SIZE, _PIPE)


def _in_words(code: int | None) -> str:
    """How a process ended, by its exit code."""
    if code is None or code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
    return f"{name}, as where memory runs out" if name == "SIGKILL" else name
