"""Response headers: our scripts and styles are asked for again on each visit, so that a page never mixes versions."""

from __future__ import annotations

from typing import Any

_OURS = ("/assets/js/", "/assets/css/")


class Revalidate:
    """ASGI middleware that sets `Cache-Control: no-cache` (revalidate by ETag) on the files of our page."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not any(part in scope.get("path", "") for part in _OURS):
            await self.app(scope, receive, send)
            return

        async def send_with_header(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"cache-control", b"no-cache")]}
            await send(message)

        await self.app(scope, receive, send_with_header)
