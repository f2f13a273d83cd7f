"""Work in a process of its own: what a question costs there, the engine and the page's other visitors do not feel.

The process is a module of ours, started as `python -m MODULE`; questions and answers are bytes, each behind its length,
over its standard streams. It ends when its questions end, which it also hears while it works: so it never outlives the
server, however that ends.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from typing import IO

from hsd_core.typed.program_files import ROOT


class Gone(Exception):
    """The process ended, or was ended, before it had answered."""


class Elsewhere:
    """One process that answers one question at a time. Thread-safe; started when it is first needed.

    Args:
        module: what is started; it calls `attend`. arguments: its command line, behind the patience.
        patience: seconds for one answer; a process that takes longer ends itself.
    """

    def __init__(self, module: str, *arguments: str, patience: float) -> None:
        self._command = [sys.executable, "-m", module, str(patience), *arguments]
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: Frames | None = None

    def start(self) -> None:
        """Have the process running before the first question, which then need not wait for it."""
        if self._turn.acquire(blocking=False):
            try:
                with suppress(OSError):  # the question will tell
                    self._running()
            finally:
                self._turn.release()

    def ask(self, question: bytes) -> bytes:
        """The process's answer.

        Raises:
            Gone: there is none. The next question starts another process.
        """
        with self._turn:
            answer = None
            with suppress(OSError, NotAFrame):  # it could not be started, or ended while it was told
                answer = self._answered(question)
            if answer is None:
                self._end()
                raise Gone
            return answer

    def _answered(self, question: bytes) -> bytes | None:
        try:
            send(self._running().stdin, question)
        except BrokenPipeError:  # it had ended since the last question
            self._end()
            send(self._running().stdin, question)
        return self._answers.next() if self._answers else None

    def end(self) -> None:
        """End the process; another question starts another."""
        with self._turn:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # Not of the terminal's group, or of its session: Ctrl+C is for the server, which then ends this one.
            apart = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            pipe, alone = subprocess.PIPE, {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                self._command,
                bufsize=0,
                stdin=pipe,
                stdout=pipe,
                cwd=ROOT,
                env=alone,
                creationflags=apart,
                start_new_session=True,
            )
            self._answers = Frames(self._process.stdout)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def attend(answer: Callable[[bytes], bytes]) -> None:
    """The process's side: answers one question after another, and ends the process when the server has ended."""
    patience = float(sys.argv[1])
    source, sink = FileIO(0, closefd=False), FileIO(1, "w", closefd=False)
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        asked = Frames(source)
        while (question := asked.next()) is not None:
            questions.put(question)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    with open(os.devnull, "w") as nowhere:
        try:
            while True:
                question = questions.get()
                faulthandler.dump_traceback_later(patience, exit=True, file=nowhere)
                said = answer(question)
                faulthandler.cancel_dump_traceback_later()
                send(sink, said)
        except (MemoryError, BrokenPipeError):  # too large a question, or nobody is there
            os._exit(1)


def bound(*, memory: int, cpu_s: int | None = None, nice: int = 0) -> None:
    """Bound this process, where the system can.

    Args:
        memory: bytes of its addresses. cpu_s: seconds of a processor, in all. nice: added to its niceness.
    """
    with suppress(ImportError, OSError, ValueError, AttributeError):
        os.nice(nice)
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if cpu_s is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


# ---- Bodies of bytes over a pipe, each behind its length


_LENGTH = struct.Struct("!Q")
_PIPE = 2**16  # bytes that are read at once
LONGEST = 2**30  # bytes of a body: more is no length but something else


class NotAFrame(ValueError):
    """The other side wrote what is no frame, such as a library's words."""


def send(sink: IO[bytes] | None, body: bytes) -> None:
    """Write one body.

    Raises:
        BrokenPipeError: nobody reads any more.
    """
    assert sink is not None
    # Each call of the system lets go of Python's lock, for which the page waits: so there is one.
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[sink.write(rest) :]


class Frames:
    """What the other side sends, one body after another. One thread reads."""

    def __init__(self, source: IO[bytes] | None) -> None:
        assert source is not None
        self._source, self._got = source, bytearray()

    def next(self) -> bytes | None:
        """The next body; None where the other side has ended.

        Raises:
            NotAFrame: what comes is none.
        """
        got, head = self._got, _LENGTH.size
        while True:
            if len(got) >= head:
                length = _LENGTH.unpack_from(got)[0]
                if length > LONGEST:
                    raise NotAFrame(length)
                if len(got) >= head + length:
                    body = bytes(memoryview(got)[head : head + length])
                    del got[: head + length]
                    return body
            try:
                piece = self._source.read(_PIPE)
            except (OSError, ValueError):  # it was closed here
                return None
            if not piece:
                return None
            got += piece
