"""The serving process under a supervisor that restarts it when it dies: native code can end a process at any time.

The supervisor is `app.py` itself with nothing but the standard library. It starts its own command line again as a
child, ends as that ends, and restarts it where it dies after it had served. What serves leaves what its successor needs
in a folder of the supervisor's (`Kept`), which goes with the supervisor.
"""

from __future__ import annotations

import _thread
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

VARIABLE = "HSD_SUPERVISED"  # the folder, by which a child knows that it serves
PAUSES_S = (0.0, 1.0, 4.0, 15.0)  # before a restart: after the first end in `WINDOW_S`, the second, ...
WINDOW_S = 120.0  # also the pause after one more
KEPT_S = 3600.0  # how long runs and rooms are kept
LOOK_S = 60.0  # how often the supervisor looks for what is older
_PORT, _ENDS = "port", "ends"


class Kept:
    """What a serving process leaves to its successor: small files in the supervisor's folder. Thread-safe.

    Args:
        folder: None where there is no supervisor: nothing is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def put(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all: a full disk stops nothing else."""
        if self._folder is not None:
            path = self._folder / name
            part = self._folder / f".{name}.{threading.get_ident()}"
            with suppress(OSError):
                part.write_bytes(data)
                part.replace(path)

    def get(self, name: str) -> bytes | None:
        """What was kept under this name."""
        if self._folder is not None:
            with suppress(OSError):
                return (self._folder / name).read_bytes()
        return None

    def drop(self, name: str) -> None:
        """Forget a file."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / name).unlink()

    def names(self, prefix: str) -> list[str]:
        """The files whose names begin so, the oldest first."""
        if self._folder is not None:
            with suppress(OSError):
                return [path.name for path in sorted(self._folder.glob(f"{prefix}*"), key=lambda p: p.stat().st_mtime)]
        return []

    def serves(self, port: int) -> None:
        """The process listens there; a successor takes the same port."""
        self.put(_PORT, str(port).encode())

    @property
    def port(self) -> int | None:
        """Where a predecessor listened; None in the first process."""
        found = self.get(_PORT)
        return int(found) if found else None

    @property
    def ends(self) -> list[str]:
        """How each predecessor ended."""
        return (self.get(_ENDS) or b"").decode().splitlines()


NOWHERE = Kept()


def attended() -> Kept | None:
    """In the child: what is kept; from now on the child closes when its supervisor ends. None in any other process."""
    given = os.environ.pop(VARIABLE, None)
    if given is None:
        return None

    def listen() -> None:
        while os.read(0, 1024):
            pass
        shutil.rmtree(given, ignore_errors=True)
        if os.name == "nt":
            _thread.interrupt_main(signal.SIGTERM)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=listen, daemon=True).start()
    return Kept(Path(given))


def supervise(
    command: Sequence[str], *, pauses_s: Sequence[float] = PAUSES_S, window_s: float = WINDOW_S
) -> int | None:
    """Have the command serve until Ctrl+C or SIGTERM; its exit code. None where no folder can be made: then the caller
    serves by itself.

    Args:
        command: calls `attended`, and `Kept.serves` once it serves.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="hsd-explorer-"))
    except OSError:
        return None
    try:
        return _Supervisor(command, folder, pauses_s, window_s).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Supervisor:
    def __init__(self, command: Sequence[str], folder: Path, pauses_s: Sequence[float], window_s: float) -> None:
        self._command, self._folder, self._pauses, self._window = command, folder, pauses_s, window_s
        self._kept = Kept(folder)
        self._asked = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._hear)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell may have told us to ignore it
            signal.signal(signal.SIGINT, self._hear)
        died: deque[float] = deque(maxlen=len(self._pauses) + 1)
        while True:
            code = self._served()
            if self._asked.is_set():
                return max(code, 0)  # ended by a signal before it could hear one: as asked
            if code == 0 or self._kept.port is None:
                return code if code >= 0 else 128 - code  # as a shell has it
            self._kept.put(_ENDS, "\n".join([*self._kept.ends, _how(code)]).encode())
            died.append(time.monotonic())
            recent = sum(died[-1] - at < self._window for at in died)
            if self._asked.wait(self._window if recent > len(self._pauses) else self._pauses[recent - 1]):
                return 0

    def _served(self) -> int:
        """A child's exit code; negative where a signal ended it.

        It has a session of its own, so that Ctrl+C is heard here alone; that its standard input ends asks it to close.
        """
        environment = {**os.environ, VARIABLE: str(self._folder)}
        apart = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, env=environment, creationflags=apart, start_new_session=True
        )
        self._child = child
        if self._asked.is_set():
            self._close()
        while True:
            try:
                return child.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                self._sweep()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._asked.is_set() and self._child is not None:
            self._child.kill()  # asked a second time
        self._asked.set()
        self._close()

    def _close(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()

    def _sweep(self) -> None:
        for path in self._folder.iterdir():
            with suppress(OSError):
                if path.name not in (_PORT, _ENDS) and time.time() - path.stat().st_mtime > KEPT_S:
                    path.unlink()


def _how(code: int) -> str:
    """How a process ended, for the log: the name of a signal, else its exit code."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return str(code)
