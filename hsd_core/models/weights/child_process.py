"""A Python program as a process that ends with its parent, even if the parent is killed.

`child_process` starts this file: `python child_process.py PROGRAM ARGUMENT...`, with a module's name or a file. Its
standard input is a pipe from the parent, and nothing is ever written there. When the parent ends, the pipe ends; then
the process exits at once with everything it has started.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PATIENCE_S = 5.0  # for a process to exit


@contextmanager
def child_process(program: str, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block.

    Args:
        program: a module's name, or the path of a file that ends in .py. options: of `subprocess.Popen`.
    """
    command = [sys.executable, __file__, program, *arguments]
    # In its own process group, which can be killed as one; Ctrl+C in a terminal then does not reach it.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **options)
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listen() -> None:
    while os.read(0, 1):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _main(program: str, arguments: Sequence[str]) -> None:
    del sys.path[0]  # the folder of this file, which must not shadow the program's modules
    sys.argv = [program, *arguments]
    threading.Thread(target=_listen, daemon=True).start()
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
