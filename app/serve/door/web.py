"""The web application around Gradio's: our routes, and what every request passes on its way in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from app.kit.static import ROUTE, files
from app.serve.door.first import FirstPaint
from app.serve.door.presence import Watch


def app_options(
    more: Sequence[BaseRoute] = (),
    guards: Sequence[Middleware] = (),
    *,
    held: bool = False,
    story: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What the web application needs to serve them: routes (`more` are those of the tabs), and headers on the page.
    `guards` stand before all of it; `held`, `story`: as in `FirstPaint`."""
    route = Route(f"{ROUTE}/{{version}}/{{name:path}}", files().__call__, methods=["GET"])
    middleware = [
        *guards,
        Middleware(Watch),
        Middleware(PageHeaders, links=files().links()),
        Middleware(FirstPaint, files=files().route[1:], story=story, held=held),
    ]
    return {"routes": [*more, route], "middleware": middleware}


class PageHeaders:
    """ASGI middleware: `Link` headers on the page; `Cache-Control: no-cache` (revalidate by ETag) on what of ours says
    nothing else."""

    def __init__(self, app: Any, *, links: str) -> None:
        self.app, self._links = app, links.encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope.get("path", "") if scope["type"] == "http" else None
        if path == "/":
            extra = (b"link", self._links)
        elif path is not None and f"{ROUTE}/" in path:
            extra = (b"cache-control", b"no-cache")
        else:
            await self.app(scope, receive, send)
            return

        async def send_with_header(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if extra[0] not in dict(headers):
                    message = {**message, "headers": [*headers, extra]}
            await send(message)

        await self.app(scope, receive, send_with_header)
