"""Who is there: the connections over which answers are heard, seen to open and to end where the web server sees it.

A page's timers are slowed down in a background tab and say nothing of a closed one; a connection ends with its client.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.static import ROUTE

CALLER = "x-hx-caller"  # a header: the name under which a call of a tool is heard, in place of a session
LEFT_S = 1.0  # a client that opens its connection again is not gone
KEPT_S = 900.0  # so long it is known when somebody left

_DATA = re.compile(r"/queue/data/?$")
_CALL = re.compile(r"/call/(?:v2/)?[^/]+/([^/]+)/?$")
_PAGE = re.compile(r"/heartbeat/([^/]+)/?$")


class Presence:
    """Open connections by the name of their session, or of the event that a caller asked for. Thread-safe."""

    def __init__(self) -> None:
        self.watching = False  # whether requests pass through `Watch`; without it everybody counts as present
        self._lock = threading.Lock()
        self._ears: Counter[str] = Counter()
        self._pages: Counter[str] = Counter()
        self._left: dict[str, float] = {}  # when the last ear of a name was closed

    def hears(self, names: tuple[str, ...]) -> bool:
        """Whether a connection that hears one of these names is open."""
        with self._lock:
            return not self.watching or any(self._ears[name] for name in names)

    def gone(self, names: tuple[str, ...], after: float = LEFT_S) -> bool:
        """Whether nobody has heard any of these names for so many seconds."""
        with self._lock:
            if not self.watching or any(self._ears[name] for name in names):
                return False
            left = max((self._left.get(name, 0.0) for name in names), default=0.0)
            return time.monotonic() - left > after

    def has_page(self, session: str) -> bool:
        """Whether a page of this session is open."""
        with self._lock:
            return bool(self._pages[session])

    def came(self, kind: str, name: str) -> None:
        """A connection was opened; `kind` is "ear" or "page"."""
        with self._lock:
            (self._ears if kind == "ear" else self._pages)[name] += 1

    def went(self, kind: str, name: str) -> None:
        """A connection came to its end."""
        now = time.monotonic()
        with self._lock:
            counts = self._ears if kind == "ear" else self._pages
            counts[name] -= 1
            if counts[name] <= 0:
                del counts[name]
                if kind == "ear":
                    self._left.pop(name, None)  # the order is that of leaving
                    self._left[name] = now
            while (oldest := next(iter(self._left), None)) is not None and now - self._left[oldest] > KEPT_S:
                del self._left[oldest]


def left_route() -> Route:
    """`POST /hx/left`: a page that is closed, or reloaded, names its run. A connection that was cut says nothing."""

    async def left(request: Request) -> Response:
        said = await request.json()
        run = said.get("run") if isinstance(said, dict) else None
        request.app.blocks.left(run if isinstance(run, str) else "")
        return Response(status_code=204)

    return Route(f"{ROUTE}/left", left, methods=["POST"])


class Watch:
    """ASGI middleware that tells the page's `presence` of the connections which Gradio's clients hold open."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        found = _connection(scope) if scope["type"] == "http" else None
        presence = _presence(scope) if scope["type"] == "http" else None
        if presence is not None:
            presence.watching = True
        if presence is None or found is None:
            await self.app(scope, receive, send)
            return
        presence.came(*found)
        try:
            await self.app(scope, receive, send)
        finally:
            presence.went(*found)


def _presence(scope: dict[str, Any]) -> Presence | None:
    blocks = getattr(scope.get("app"), "blocks", None)
    presence = getattr(blocks, "presence", None)
    return presence if isinstance(presence, Presence) else None


def _connection(scope: dict[str, Any]) -> tuple[str, str] | None:
    """What a request holds open until its client leaves: ("ear" | "page", name)."""
    if scope.get("method") != "GET":
        return None
    path = scope["path"]
    if _DATA.search(path):
        session = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("session_hash", [""])[0]
        return ("ear", session) if session else None
    for kind, pattern in (("ear", _CALL), ("page", _PAGE)):
        if found := pattern.search(path):
            return kind, found[1]
    return None
