"""Between the page and the cluster: a process that the page starts and speaks to as to an engine.

It works on nothing itself. The page's process so imports no Ray, and outlives the cluster, which ends this process when
its head has gone.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress
from io import FileIO
from typing import Any

from app.kit.elsewhere import Frames, send
from app.serve.engines.attending import private_sink
from app.serve.engines.messages import BEAT_S, VERSION, Beat, Begin, Ends, Hello, Lost, Ready, Stop, from_page, pack
from app.serve.watch.resident import resident
from app.words import engine as says

LOOK_S = 5.0  # how often an idle cluster is asked whether it answers
ANSWER_S = 20.0  # within which it has to


class Relaying:
    """
    Args:
        deploy: gives a handle of the desk once the cluster is ready, and how many runs it works on at a time; from the
            page's packed first word.
        sink: the descriptor that is told to.
    """

    def __init__(self, deploy: Any, sink: int) -> None:
        self._deploy = deploy
        self._source, self._sink = Frames(FileIO(0, closefd=False)), FileIO(sink, "w")
        self._lock = threading.Lock()
        self._mine = os.urandom(8).hex()  # runs of other pages may have the same names
        self._runs: set[asyncio.Task[None]] = set()

    def relay(self) -> None:
        """Work until the page ends, or the cluster."""
        threading.Thread(target=self._beat, daemon=True).start()
        body = self._source.next()
        said = from_page(body) if body is not None else None
        if body is None or not isinstance(said, Hello):
            raise SystemExit(says.ALONE)
        if said.version != VERSION:
            self._tell(pack(Ready(VERSION, os.getpid())))
            return
        try:
            self._desk, places = self._deploy(body)
        except Exception as error:  # of the cluster: its kinds are many, and change
            self._tell(pack(Ends(str(error).strip().partition("\n")[0])))
            return
        self._tell(pack(Ready(VERSION, os.getpid(), places)))
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        loop, asked = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()

        def listen() -> None:
            body: bytes | None = b""
            while body is not None:
                body = self._source.next()
                loop.call_soon_threadsafe(asked.put_nowait, body)

        threading.Thread(target=listen, daemon=True).start()
        looking = asyncio.create_task(self._look())
        while (body := await asked.get()) is not None:
            said = from_page(body)
            if isinstance(said, Begin):
                self._go(self._follow(said.run, body))
            elif isinstance(said, Stop):
                self._go(self._stop(said.run))
        looking.cancel()
        os._exit(0)  # Ray's own threads would be waited for

    async def _follow(self, run: str, asked: bytes) -> None:
        """Tell the page what a run tells, until it is over."""
        key, over = self._key(run), False
        try:
            await _answered(self._desk.begin.remote(key, run, asked))
            while not over:
                told, over = await _answered(self._desk.pull.remote(key))
                for message in told:
                    self._tell(message)
        except Exception as error:
            self._tell(pack(Lost(run, says.lost(type(error).__name__))))

    async def _stop(self, run: str) -> None:
        with suppress(Exception):  # who follows the run tells
            await _answered(self._desk.stop.remote(self._key(run)))

    async def _look(self) -> None:
        """End this process when the cluster does not answer: the page says so, and starts another one."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await _answered(self._desk.wanted.remote(""))
            except Exception:
                self._tell(pack(Ends(says.SILENT)))
                os._exit(1)

    def _key(self, run: str) -> str:
        return f"{self._mine}:{run}"

    def _go(self, doing: Any) -> None:
        task = asyncio.create_task(doing)
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    def _beat(self) -> None:
        while True:
            self._tell(pack(Beat(None, 0.0, resident())))
            time.sleep(BEAT_S)

    def _tell(self, body: bytes) -> None:
        with self._lock:
            try:
                send(self._sink, body)
            except OSError:  # the page has ended
                os._exit(0)


async def _answered(asked: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(asked, ANSWER_S)


def relay(deploy: Any) -> None:
    """Be what the page speaks to instead of an engine."""
    Relaying(deploy, private_sink()).relay()
