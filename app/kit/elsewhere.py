"""Work in a process of its own: what a question costs there, the engine and the page's other visitors do not feel.

The process is a module of ours, started as `python -m MODULE`; questions and answers are bytes, each behind its length,
over its standard streams. It ends when its questions end, which it also hears while it works: so it never outlives the
server, however that ends.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path

from app.kit.frames import Frames, NotAFrame, send

_ROOT = Path(__file__).resolve().parents[2]


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
                cwd=_ROOT,
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
