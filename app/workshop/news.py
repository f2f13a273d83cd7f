"""News that browsers wait for: a version, and who is woken when it changes. Belongs to one event loop."""

from __future__ import annotations

import asyncio
import secrets

SOON_S = 0.5  # so long small news are gathered: sixty answers in a few seconds wake everybody a few times, not sixty


class News:
    """Versions are compared for equality alone: after a restart of the server none of before is of now."""

    def __init__(self) -> None:
        self._room, self._number = secrets.token_hex(4), 0
        self._changed = asyncio.Event()
        self._gathering: asyncio.TimerHandle | None = None

    @property
    def version(self) -> str:
        return f"{self._room}.{self._number}"

    def now(self) -> None:
        """Something changed that everybody is to know at once."""
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        self._number += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def soon(self) -> None:
        """Something changed that may wait for more of its kind."""
        if self._gathering is None:
            self._gathering = asyncio.get_running_loop().call_later(SOON_S, self.now)

    async def after(self, version: str, patience: float) -> None:
        """Returns once there is another version than this one, or after so many seconds."""
        if version != self.version:
            return
        try:
            await asyncio.wait_for(self._changed.wait(), patience)
        except asyncio.TimeoutError:
            return
