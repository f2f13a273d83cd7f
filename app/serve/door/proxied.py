"""Behind a proxy that serves the page below a path of its own host, `https://host/hsd/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from app.serve.door.address import AddressError
from app.serve.door.guard import Message, Receive, Send

_PATH = re.compile(r"(/[A-Za-z0-9._~@%+-]+)*")
_NETLOC = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:]+\](:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Public:
    """Where a proxy serves the page.

    Attributes:
        path: the prefix of its paths, such as "/hsd"; "" for none.
        origin: such as "https://host"; "" where it was not given.
    """

    path: str = ""
    origin: str = ""

    @property
    def address(self) -> str:
        """As it was given, without a slash at its end."""
        return self.origin + self.path

    @property
    def host(self) -> str:
        """The name of the host in `origin`, without a port; "" where there is none."""
        return urlsplit(self.origin).hostname or ""


def public(text: str) -> Public:
    """
    Args:
        text: "/hsd", "https://host/hsd", or "" for no proxy.
    Raises:
        AddressError: it is neither; the message names the cure.
    """
    parts = urlsplit(text.strip().rstrip("/"))
    full = parts.scheme in ("http", "https") and _NETLOC.fullmatch(parts.netloc)
    alone = not parts.scheme and not parts.netloc
    if parts.query or parts.fragment or not (full or alone) or not _PATH.fullmatch(parts.path):
        raise AddressError(f"--root-path is {text[:80]!r}; write it as /hsd or https://host/hsd")
    return Public(parts.path, f"{parts.scheme}://{parts.netloc.lower()}" if full else "")


class Proxied:
    """ASGI middleware, the first: what stands behind it sees paths without the prefix.

    A proxy may pass the prefix on or not. Answers lead back below the prefix, and event streams ask the proxy not to
    hold them back.
    """

    def __init__(self, app: Any, *, path: str = "") -> None:
        self._app, self._path = app, path
        self._prefix = unquote(path)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if self._prefix and path == self._prefix:  # relative addresses in the page count from the slash
            headers = [(b"location", f"{self._path}/".encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 308, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        if self._prefix:
            path = path.removeprefix(self._prefix) if path.startswith(f"{self._prefix}/") else path
            # Gradio has FastAPI name the prefix here, with which routes would be looked for a second time.
            scope = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        own = tuple(f"{scheme}://".encode() + dict(scope["headers"]).get(b"host", b"") for scheme in ("http", "https"))

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": self._led_back(message.get("headers", ()), own)}
            await send(message)

        await self._app(scope, receive, passed)

    def _led_back(self, headers: Any, own: tuple[bytes, ...]) -> list[tuple[bytes, bytes]]:
        led = []
        for name, value in headers:
            if name == b"location" and self._path and value.startswith(tuple(one + b"/" for one in own)):
                value = self._path.encode() + b"/" + value.split(b"/", 3)[3]
            elif name == b"content-type" and value.startswith(b"text/event-stream"):
                led.append((b"x-accel-buffering", b"no"))
            led.append((name, value))
        return led
