"""The page itself, packed: it holds the configuration of every tab, half of what a first visit needs."""

from __future__ import annotations

import gzip
from typing import Any

from app.serve.door.guard import Message, Receive, Send

MOST = 8  # pages that are kept packed


class PackedPage:
    """ASGI middleware: gzip for the page at `/` where it is taken. It stands before all that looks into the page."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._kept: dict[bytes, bytes] = {}  # the page as it was sent last in each language -> packed

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        page = scope["type"] == "http" and scope["path"] == "/"
        if not page or b"gzip" not in dict(scope["headers"]).get(b"accept-encoding", b""):
            await self._app(scope, receive, send)
            return
        held: list[Message] = []

        async def packed(message: Message) -> None:
            held.append(message)
            if message["type"] == "http.response.start" or message.get("more_body", False):
                return
            start, *parts = held
            body = b"".join(part.get("body", b"") for part in parts)
            headers = list(start["headers"])
            if body and b"content-encoding" not in dict(headers):
                body = self._packed(body)
                headers = [(name, value) for name, value in headers if name != b"content-length"]
                headers += [
                    (b"content-encoding", b"gzip"),
                    (b"vary", b"accept-encoding"),
                    (b"content-length", str(len(body)).encode()),
                ]
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, packed)

    def _packed(self, body: bytes) -> bytes:
        if body not in self._kept:
            if len(self._kept) >= MOST:
                self._kept.clear()
            self._kept[body] = gzip.compress(body, 6, mtime=0)
        return self._kept[body]
