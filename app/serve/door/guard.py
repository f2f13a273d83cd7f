"""What may come in: only the routes that the page uses, only from its own origin, only bodies of a stated size.

A page of another origin may lead a visitor here, and load files that are the same for everybody; more only if the
operator names it.

Gradio serves many more routes than this page needs (uploads, files, proxies, media streams, monitoring), reads every
body into memory and takes calls from any web page. This middleware stands before all of that.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from app.words import page as says

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

API = "/gradio_api"
CALLS = f"{API}/component_server"  # the page's server functions; the one that opens a trace takes a file
MAX_BODY = 2**20  # bytes of a request, where `Guard` is not told more: a planner's question has 0.3 MB
MAX_HELD = 64 * 2**20  # bytes beyond MAX_BODY of all the calls that arrive or are worked on
LONGEST_PATH = 250  # bytes: a longer name, or a zero byte, is not a file's, and looking for one raises
PATIENCE_S = 60.0  # for one body to arrive
PAGES = frozenset(
    ("/", "/config", "/theme.css", "/favicon.ico", "/robots.txt", "/manifest.json", "/health", "/metrics")
)
ENDPOINTS = frozenset(
    f"{API}/{name}"
    for name in (
        "app_id",
        "info",
        "openapi.json",
        "theme.css",
        "startup-events",
        "component_server",
        "queue/join",
        "queue/data",
        "cancel",
        "reset",
    )
)
TOOLS = f"{API}/mcp"  # MCP over streamable HTTP
MCP = frozenset((TOOLS, f"{TOOLS}/schema"))
FOLDERS = ("/assets/", "/static/", "/svelte/", "/hx/", *(f"{API}/{x}/" for x in ("run", "api", "call", "heartbeat")))
_STATE_OF_NOBODY = re.compile(r"/(assets|static|svelte)/|/hx/[0-9a-f]{16}/|/(theme\.css|favicon\.ico|robots\.txt)$")
LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


class RequestRefused(Exception):
    """A request that goes no further: status code, and a sentence that names what was given and the cure."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def names(host: str | None, *, share: bool, allowed: Sequence[str] = (), public: str = "") -> frozenset[str] | None:
    """The names that a server listening on `host` answers to, for `Guard`; None for any.

    Args:
        host: as given to `launch`; None for Gradio's default.
        share: whether there is a public link, whose name nobody knows before.
        allowed: more names, of a proxy on this machine.
        public: the name in the address at which a proxy serves the page.
    """
    shared = share or os.environ.get("GRADIO_SHARE", "").lower() == "true"
    local = (host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1").strip("[]") in LOCAL
    known = LOCAL | {name.lower() for name in (*allowed, public) if name}
    return known if allowed or (local and not shared) else None


class Guard:
    """ASGI middleware.

    Args:
        larger: bytes that bodies may have, by path, where that is more than `MAX_BODY`.
        hosts: the names by which the server may be addressed; None for any. A server for this machine alone answers to
            `LOCAL` only, so that a foreign page cannot point a name of its own at it (DNS rebinding).
        mcp: whether tools are called here.
        origin: at which a proxy serves the page, "" where that is not known.
        allowed: other origins whose pages may call, as `CrossOrigin` answers them.
    """

    def __init__(
        self,
        app: Any,
        *,
        larger: Mapping[str, int],
        hosts: Collection[str] | None = None,
        mcp: bool = False,
        origin: str = "",
        allowed: Collection[str] = (),
    ) -> None:
        self._app, self._larger, self._hosts, self._origin = app, larger, hosts, origin
        self._allowed = frozenset(allowed)
        self._endpoints = ENDPOINTS | MCP if mcp else ENDPOINTS
        self._held = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing of the page uses a websocket
            await send({"type": "websocket.close", "code": 1008})
            return
        path = scope["path"].rstrip("/") or "/"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            self._check(scope["method"], path, headers)
            limit = self._larger.get(path, MAX_BODY)
            length = headers.get("content-length", "0")
            if not length.isascii() or not length.isdigit() or len(length) > 18 or int(length) > limit:
                raise _too_large(limit)
            if scope["method"] == "POST":
                await self._received(scope, receive, send, limit)
                return
        except RequestRefused as refusal:
            await _answer(send, refusal)
            return
        await self._app(scope, receive, send)

    def _check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        name = _hostname(headers.get("host", ""))
        if self._hosts is not None and name not in self._hosts:
            raise RequestRefused(403, says.wrong_host(name[:80]))
        if method not in ("GET", "HEAD", "POST", "OPTIONS"):
            raise RequestRefused(405, says.wrong_method(method[:20]))
        known = path in PAGES or path in self._endpoints or path.startswith(FOLDERS)
        if not known or len(path.encode("utf-8", "replace")) > LONGEST_PATH or "\0" in path:
            raise RequestRefused(404, says.NO_SUCH_ADDRESS)
        reads = method in ("GET", "HEAD")
        open_to_all = reads and (headers.get("sec-fetch-mode") == "navigate" or _STATE_OF_NOBODY.match(path))
        named = headers.get("origin") in self._allowed
        if not (open_to_all or named) and _foreign(headers, self._origin):
            raise RequestRefused(403, says.FOREIGN)
        if method == "POST" and headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise RequestRefused(415, says.NOT_JSON)

    async def _received(self, scope: dict[str, Any], receive: Receive, send: Send, limit: int) -> None:
        """Have the whole body here, or refuse it, before anybody parses it."""
        body = bytearray()
        held = 0

        async def arrived() -> bool:
            nonlocal held
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return False
                body.extend(message.get("body", b""))
                if len(body) > limit:
                    raise _too_large(limit)
                extra = max(0, len(body) - MAX_BODY)
                self._held, held = self._held + extra - held, extra
                if self._held > MAX_HELD:
                    raise RequestRefused(503, says.OTHERS_SEND)
                more = message.get("more_body", False)
            return True

        try:
            try:
                if not await asyncio.wait_for(arrived(), PATIENCE_S):
                    return
            except asyncio.TimeoutError:
                raise RequestRefused(408, says.too_slow(PATIENCE_S)) from None
            whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]
            body.clear()

            async def replayed() -> Message:
                return whole.pop() if whole else await receive()

            await self._app(scope, replayed, send)
        finally:
            self._held -= held


def _too_large(limit: int) -> RequestRefused:
    return RequestRefused(413, says.too_large(limit / 2**20))


def _foreign(headers: Mapping[str, str], public: str = "") -> bool:
    """Whether a page of another origin than ours sends this. Programs send neither header and are no pages."""
    site = headers.get("sec-fetch-site")
    if site is not None:  # browsers write it themselves, and behind any proxy it says the same
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    own = [urlsplit(public).netloc, headers.get("host", ""), *headers.get("x-forwarded-host", "").split(",")]
    return _address(urlsplit(origin).netloc) not in {_address(name) for name in own if name.strip()}


def _address(netloc: str) -> str:
    """A host with its port, without the port that its scheme implies."""
    return netloc.strip().lower().removesuffix(":443").removesuffix(":80")


def _hostname(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


async def _answer(send: Send, refusal: RequestRefused) -> None:
    body = json.dumps({"error": str(refusal)}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what is still on its way is not waited for
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
