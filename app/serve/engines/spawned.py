"""One engine's process: started, spoken to, watched, and ended when it hangs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import msgspec

from app.kit.elsewhere import Frames, NotAFrame, send
from app.serve.engines.attending import STILL_S, hangs
from app.serve.engines.messages import VERSION, Beat, Ends, FromEngine, Hello, Message, Ready, from_engine, pack
from app.words import engine as says
from hsd_core.typed.program_files import ROOT

SILENT_S = 20.0  # without a word, after which a process is held to hang
STARTS_S = 60.0  # until its first one: a busy machine may take that long
WATCH_S = 0.25


class Spawned:
    """One process, from its start to its end. What it tells, and how it ended, is heard in a thread of its own.

    Args:
        command: what is started.
        hear: what the engine tells; called in order. ended: called once, with how it ended, in words.
        silent_s: see `SILENT_S`. still_s: see `STILL_S`.
    """

    def __init__(
        self,
        command: Sequence[str],
        hello: Hello,
        hear: Callable[[FromEngine], None],
        ended: Callable[[str], None],
        *,
        silent_s: float = SILENT_S,
        still_s: float = STILL_S,
    ) -> None:
        self._hear, self._ended = hear, ended
        self._silent_s, self._still_s = silent_s, still_s
        self._heard, self._spoke, self._why = time.monotonic(), False, ""
        self._sending = threading.Lock()
        self.memory, self.model = 0, ""
        # Not of the terminal's group: Ctrl+C is for the server, which then ends this one.
        apart = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, cwd=ROOT, creationflags=apart, start_new_session=True
        )
        self.pid = self._process.pid
        self.tell(hello)
        for act in (self._listen, self._watch):
            threading.Thread(target=act, name="engine", daemon=True).start()

    def tell(self, message: Message) -> None:
        """Send a message; messages to an engine that has ended are dropped."""
        with self._sending, suppress(OSError, ValueError):
            send(self._process.stdin, pack(message))

    def end(self, grace: float) -> None:
        """Close its pipe, at which it clears up and ends; kill it where that takes longer than so many seconds."""
        with self._sending, suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        self._process.kill()

    def _listen(self) -> None:
        try:
            for message in self._messages():
                if isinstance(message, Ready) and message.version != VERSION:
                    self._kill(says.other_version(message.version, VERSION))
                    break
                if isinstance(message, Beat):
                    self.memory, self.model = message.memory, message.model
                    if message.still is not None and hangs(message.still, message.longest, self._still_s):
                        self._kill(says.still(message.still))
                if isinstance(message, Ends):
                    self._kill(message.why)
                    break
                self._hear(message)
        except (NotAFrame, msgspec.DecodeError):
            self._kill(says.UNKNOWN_WORDS)
        code = self._process.wait()
        self._ended(self._why or _in_words(code))

    def _messages(self) -> Iterator[FromEngine]:
        said = Frames(self._process.stdout)
        while (body := said.next()) is not None:
            self._heard, self._spoke = time.monotonic(), True
            yield from_engine(body)

    def _watch(self) -> None:
        while self._process.poll() is None:
            silent = time.monotonic() - self._heard
            if silent > (self._silent_s if self._spoke else STARTS_S):
                self._kill(says.silent(silent))
            time.sleep(WATCH_S)

    def _kill(self, why: str) -> None:
        self._why = self._why or why
        self._process.kill()


def _in_words(code: int) -> str:
    """How a process ended, by its exit code."""
    if code >= 0:
        return says.exited(code)
    name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
    if -code == getattr(signal, "SIGKILL", 9):
        return says.KILLED
    if -code in {getattr(signal, part, 0) for part in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE")}:
        return says.crashed(name)
    return says.ended_by(name)


def command(module: str) -> list[str]:
    """What starts a module of ours with this Python."""
    return [sys.executable, "-m", module]
