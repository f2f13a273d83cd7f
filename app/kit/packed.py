"""Bodies that are made once, kept packed, and then only confirmed by their tag."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Callable

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response


class PackedBody:
    """One body, made at its first use and by one thread, however many ask for it then.

    Args:
        make: gives the body. What it raises, the call raises, and the next call tries again.
        making: held while a body is made; several that share it are made one after another.
    """

    def __init__(self, make: Callable[[], bytes], media_type: str, making: asyncio.Lock | None = None) -> None:
        self._make, self._type = make, media_type
        self._making = making or asyncio.Lock()
        self._kept: tuple[bytes, str] | None = None

    async def __call__(self, request: Request) -> Response:
        data, tag = self._kept or await self.prepare()
        headers = {"etag": tag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(data), media_type=self._type, headers=headers)
        return Response(data, media_type=self._type, headers={**headers, "content-encoding": "gzip"})

    async def prepare(self) -> tuple[bytes, str]:
        """Make the body, if that has not been done: the packed bytes and their tag."""
        if self._kept is None:
            async with self._making:
                if self._kept is None:
                    self._kept = await to_thread.run_sync(self._pack)
        return self._kept

    def _pack(self) -> tuple[bytes, str]:
        data = gzip.compress(self._make(), 6, mtime=0)
        return data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'
