"""Pages of other origins that may call this server with Gradio's JavaScript client: those that the operator names.

They are answered as a program is: without the visitor's cookies, so a page elsewhere does not act in a visitor's name.
Gradio's own CORS middleware, behind this, would allow every origin on a public host and none on localhost.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from app.serve.door.guard import Message, Receive, Send
from app.serve.door.policy import OriginError, origins

_CORS = b"access-control-"
_KEPT_S = b"600"  # for which a browser does not ask again whether it may


def named_origins(text: str) -> tuple[str, ...]:
    """As `origins`, each written out.

    Raises:
        OriginError: one of them is none, or stands for several.
    """
    found = tuple(one.lower() for one in origins(text))
    if several := [one for one in found if "*" in one]:
        raise OriginError(f"{several[0][:80]!r} stands for many pages; name each, as https://teaching.example")
    return found


class CrossOrigin:
    """ASGI middleware before `Guard`, which lets these origins pass. origins: as `named_origins` gives them."""

    def __init__(self, app: Any, *, origins: Collection[str]) -> None:
        self._app, self._origins = app, frozenset(one.encode() for one in origins)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        origin = headers.get(b"origin", b"")
        if scope["type"] != "http" or origin not in self._origins:
            await self._app(scope, receive, send)
            return
        allowed = [(b"access-control-allow-origin", origin), (b"vary", b"origin")]
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            allowed += [(b"access-control-allow-methods", b"GET, POST"), (b"access-control-max-age", _KEPT_S)]
            if asked := headers.get(b"access-control-request-headers"):
                allowed.append((b"access-control-allow-headers", asked))
            if b"access-control-request-private-network" in headers:  # a public page asks for a server of this network
                allowed.append((b"access-control-allow-private-network", b"true"))
            await send({"type": "http.response.start", "status": 204, "headers": allowed})
            await send({"type": "http.response.body", "body": b""})
            return

        async def with_origin(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [one for one in message.get("headers", ()) if not one[0].lower().startswith(_CORS)]
                message = {**message, "headers": [*own, *allowed]}
            await send(message)

        await self._app(scope, receive, with_origin)
