"""Where pages hand in runs and fetch what is told of them: an actor of the cluster that costs next to nothing.

A page outside the cluster cannot hold a stream open into it (Ray's client has none), so the desk holds the streams, and
a page asks again and again what came. That also tells when a page has gone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import Any

from app.serve.engines.messages import Lost, pack
from app.words import engine as says

PULL_S = 2.0  # how long a page's question waits for something to be told
LEFT_S = 15.0  # after which a run about which no page asks is wanted no longer
KEPT_S = 60.0  # how long the desk remembers one
log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Relayed:
    """A run between its replica and its page."""

    told: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    asked: float = field(default_factory=time.monotonic)  # when its page last asked
    wanted: bool = True
    over: bool = False  # its replica tells nothing more


class Desk:
    """
    Args:
        engines: a handle of the replicas. me: a handle of this desk, for them.
    """

    def __init__(self, engines: Any, me: Any) -> None:
        self._engines, self._me = engines.options(stream=True), me
        self._runs: dict[str, Relayed] = {}
        self._relaying: set[asyncio.Task[None]] = set()

    async def begin(self, key: str, run: str, asked: bytes) -> None:
        """Hand in a run. key: its name here, of this page alone; run: its name there; asked: a packed `Begin`."""
        now = time.monotonic()
        self._runs = {k: r for k, r in self._runs.items() if not r.over or now - r.asked < KEPT_S}
        self._runs[key] = Relayed()
        task = asyncio.create_task(self._relay(self._runs[key], key, run, asked))
        self._relaying.add(task)
        task.add_done_callback(self._relaying.discard)

    async def pull(self, key: str) -> tuple[list[bytes], bool]:
        """What was told since the last question, packed, waiting for something a while; whether that was all.

        Raises:
            KeyError: there is no such run: this desk was started after it.
        """
        relayed = self._runs[key]
        relayed.asked = time.monotonic()
        told: list[bytes] = []
        try:
            if not relayed.over:
                told.append(await asyncio.wait_for(relayed.told.get(), PULL_S))
        except asyncio.TimeoutError:
            pass
        while not relayed.told.empty():
            told.append(relayed.told.get_nowait())
        relayed.asked = time.monotonic()
        return told, relayed.over and relayed.told.empty()

    async def stop(self, key: str) -> None:
        """Have a run end at its next forward; what it has written then is told as ever."""
        if relayed := self._runs.get(key):
            relayed.wanted = False

    async def wanted(self, key: str) -> bool:
        """Whether a run is to go on."""
        relayed = self._runs.get(key)
        return relayed is not None and relayed.wanted and time.monotonic() - relayed.asked < LEFT_S

    async def _relay(self, relayed: Relayed, key: str, run: str, asked: bytes) -> None:
        try:
            async for message in self._engines.work.remote(asked, key, self._me):
                relayed.told.put_nowait(message)
        except Exception as error:  # of the cluster: its kinds are many, and change
            log.exception("a run was lost")
            relayed.told.put_nowait(pack(Lost(run, says.lost(type(error).__name__))))
        finally:
            relayed.over = True
