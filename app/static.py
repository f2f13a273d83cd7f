"""Our scripts and styles: served at /hx/<hash of them all>, asked for with the page, kept for good.

One hash stands in front of all the files, so that the relative addresses by which they import one another need no
change. They are read once, when the server starts: what is kept under an address is what was there from the start.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from app.first import FirstPaint
from app.packed import Packed
from app.presence import Watch
from hsd_core.export.page import SHEETS

ASSETS = Path(__file__).resolve().parent.parent / "assets"
ROUTE = "/hx"
FOREVER = "public, max-age=31536000, immutable"
_TYPES = {"css": "text/css", "js": "text/javascript"}  # by folder and ending
_FIRST = ("js/early.js", "js/notes.js")  # what the page starts; with all that they import before they run
_IMPORT = re.compile(r'^(?:import|export)\s[^"\';]*?from\s+"(\.[^"]+)"', re.M)
_HASH = re.compile(r"[0-9a-f]{16}")


class Files:
    """The scripts and styles below a folder, as they are now.

    Attributes:
        names: their paths below the folder.
        route: the address below which they are served; it changes with every change of any of them.
    """

    def __init__(self, folder: Path = ASSETS) -> None:
        paths = [path for kind in _TYPES for path in (folder / kind).rglob(f"*.{kind}")]
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}
        sums = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in found.items())
        self.names = list(found)
        self._version = hashlib.sha256(sums.encode()).hexdigest()[:16]
        self.route = f"{ROUTE}/{self._version}"
        self._texts = {name: data.decode() for name, data in found.items() if name.endswith(".js")}
        self._packed = {name: _packed(name, data) for name, data in found.items()}

    async def __call__(self, request: Request) -> Response:
        """A file that will never differ; under the hash of another state of the files, the way to today's."""
        version, name = request.path_params["version"], request.path_params["name"]
        if not _HASH.fullmatch(version) or name not in self._packed:
            return Response(status_code=404)
        if version != self._version:
            # A page that was open during an update loads the rest of its scripts from there, all of one state. The
            # address is relative: a proxy may serve the page below a path that is not known here.
            here = f"{'../' * (name.count('/') + 1)}{self._version}/{name}"
            return RedirectResponse(here, headers={"cache-control": "no-store"})
        response = await self._packed[name](request)
        response.headers["cache-control"] = FOREVER
        return response

    def links(self) -> str:
        """The `Link` header by which the page asks for what the first screen needs."""
        first = [*(f"css/{name}.css" for name in SHEETS), *self._imported(_FIRST)]
        kinds = {"css": "preload; as=style", "js": "modulepreload"}
        return ", ".join(f"<{self.route[1:]}/{name}>; rel={kinds[name.split('/')[0]]}" for name in first)

    def _imported(self, names: Sequence[str]) -> list[str]:
        """These scripts and all that they import, each once."""
        found: dict[str, None] = {}
        waiting = [name for name in names if name in self._texts]
        while waiting:
            name = waiting.pop(0)
            if name in found:
                continue
            found[name] = None
            paths = _IMPORT.findall(self._texts[name])
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) for path in paths]
        return list(found)


@cache
def files() -> Files:
    """Those of this program."""
    return Files()


def app_options(more: Sequence[BaseRoute] = (), guards: Sequence[Middleware] = ()) -> dict[str, Any]:
    """What the web application needs to serve them: routes (`more` are those of the tabs), and headers on the page.
    `guards` stand before all of it."""
    route = Route(f"{ROUTE}/{{version}}/{{name:path}}", files().__call__, methods=["GET"])
    middleware = [
        *guards,
        Middleware(Watch),
        Middleware(PageHeaders, links=files().links()),
        Middleware(FirstPaint, files=files().route[1:]),
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


def _packed(name: str, data: bytes) -> Packed:
    return Packed(lambda: data, _TYPES[name.split("/")[0]])
