"""A server that is started here for a probe, and ended with all that it started."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import IO, NoReturn

from hsd_core.measure.probe.http_server import Asked, ProbeError, Refused, Silent

STARTS = 600.0  # s, until a large model is loaded
_PAUSE = 0.2  # s
_GRACE = 10.0  # s, to end by itself
_SHOWN = 3  # last lines of its log, in an error


@contextmanager
def started(command: str, asked: Asked, seconds: float = STARTS) -> Iterator[None]:
    """A server is running, and answers at the address, until the block ends.

    Raises:
        ProbeError: the address is taken, the program cannot be started, ends, or does not answer in time.
    """
    if not asked.here:
        raise ProbeError(f"{asked.root} is not this machine; a server is started at 127.0.0.1 alone")
    if _answers(asked):
        raise ProbeError(f"{asked.root} answers already; end that server, or name another port")
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        except (OSError, ValueError) as why:
            raise ProbeError(f"{command!r} cannot be started: {why}; name a program with its whole path") from None
        before = signal.signal(signal.SIGTERM, _ended) if current_thread() is main_thread() else None
        try:
            deadline = time.monotonic() + seconds
            while not _ready(asked):
                if process.poll() is not None:
                    raise ProbeError(f"{command!r} ended with code {process.returncode}: {_tail(log)}")
                if time.monotonic() > deadline:
                    raise ProbeError(f"{command!r} does not answer at {asked.root} after {seconds:g} s: {_tail(log)}")
                time.sleep(_PAUSE)
            yield
            if process.poll() is not None:
                raise ProbeError(f"{command!r} ended during the probe: {_tail(log)}")
        finally:
            _end(process)
            if before is not None:
                signal.signal(signal.SIGTERM, before)


def _ended(*_: object) -> NoReturn:
    """Who ends the probe ends its server too."""
    raise SystemExit(128 + signal.SIGTERM)


def _answers(asked: Asked) -> bool:
    with suppress(Silent):
        asked.found("/health")
        return True
    return False


def _ready(asked: Asked) -> bool:
    """Whether it answers, with its model loaded: all three engines answer 200 to /health then."""
    with suppress(Silent, Refused):
        asked.text("/health")
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            break


def _tail(log: IO[bytes]) -> str:
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - 4000))
    said = [line.strip()[:200] for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(said[-_SHOWN:]) or "it said nothing"
