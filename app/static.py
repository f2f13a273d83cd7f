"""Our scripts and styles: served at /hx, asked for while the page itself is still on its way, never stale.

Gradio's own file route costs some ten milliseconds a file, which thirty small modules would make the visitor wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from app.presence import Watch

ASSETS = Path(__file__).resolve().parent.parent / "assets"
ROUTE = "/hx"
_FOLDERS = ("css", "js")
_LATER = ("planner.css",)  # styles of tabs that nobody has opened yet; their scripts stand in folders of their own


def app_options(more: Sequence[BaseRoute] = (), guards: Sequence[Middleware] = ()) -> dict[str, Any]:
    """What the web application needs to serve them: routes (`more` are those of the tabs), and headers on the page.
    `guards` stand before all of it."""
    routes = [Mount(f"{ROUTE}/{name}", StaticFiles(directory=ASSETS / name)) for name in _FOLDERS]
    middleware = [*guards, Middleware(Watch), Middleware(PageHeaders, links=", ".join(_links()))]
    return {"routes": [*routes, *more], "middleware": middleware}


def files() -> list[str]:
    """Paths below ROUTE of what the first screen needs."""
    found = [path for name in _FOLDERS for path in (ASSETS / name).glob(f"*.{name}") if path.name not in _LATER]
    return sorted(path.relative_to(ASSETS).as_posix() for path in found)


class PageHeaders:
    """ASGI middleware: `Link` headers on the page, `Cache-Control: no-cache` (revalidate by ETag) on our files."""

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
                message = {**message, "headers": [*message.get("headers", ()), extra]}
            await send(message)

        await self.app(scope, receive, send_with_header)


def _links() -> list[str]:
    return [
        f"<{ROUTE[1:]}/{name}>; rel={'modulepreload' if name.endswith('.js') else 'preload; as=style'}"
        for name in files()
    ]
