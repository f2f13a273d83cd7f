"""A pretended ZeroGPU: a worker forked from this process for each call, plain data alone in and out, as a pickle."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from typing import Any


def lending(task: Callable[..., Iterator[bytes]], refuse: str = "") -> Callable[..., Iterator[bytes]]:
    """The task as ZeroGPU's decorator gives it back.

    Args:
        refuse: what is said instead of lending anything, as where no quota is left.
    """
    fork = multiprocessing.get_context("fork")

    def lent(*given: Any) -> Iterator[bytes]:
        if refuse:
            raise RuntimeError(refuse)
        ours, theirs = fork.Pipe(duplex=False)
        worker = fork.Process(target=_work, args=(task, pickle.dumps(given), theirs))
        worker.start()
        theirs.close()
        try:
            while True:
                try:
                    body = pickle.loads(ours.recv_bytes())
                except EOFError:
                    raise RuntimeError("GPU task aborted") from None
                if body is None:
                    return
                yield body
        finally:
            worker.kill()
            worker.join()

    return lent


def _work(task: Callable[..., Iterator[bytes]], given: bytes, sink: Any) -> None:
    for body in task(*pickle.loads(given)):
        sink.send_bytes(pickle.dumps(body))
    sink.send_bytes(pickle.dumps(None))
