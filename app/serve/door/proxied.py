"""Behind a proxy that serves the page below a path of its own host, `https://host/hsd/`."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from app.serve.door.guard import Message, Receive, Send

_PATH = re.compile(r"(/[A-Za-z0-9._~@%+-]+)*")
_SPACE = re.compile(r"[\w.-]+/[\w.-]+")
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


def space_id() -> str:
    """OWNER/NAME of the Space of the Hub that this server is, or ""."""
    given = os.environ.get("SPACE_ID", "")
    return given if _SPACE.fullmatch(given) else ""


# ---- where the server is to listen, and which proxies it believes


PORTS = (1, 65535)
SPACE_PROXIES = ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1", "fc00::/7")
SHARE_PROXIES = ("127.0.0.1", "::1")  # the tunnel of a public link ends on this machine
_CURE = "127.0.0.1 (this machine only) or 0.0.0.0 (every network)"


class AddressError(ValueError):
    """A host or port that the server cannot listen on; the message says why, and the cure."""


def check_address(host: str | None, port: int | None) -> None:
    """Listen there for a moment.

    Args:
        host: None for Gradio's own, which GRADIO_SERVER_NAME may name. port: None for the first free one.
    Raises:
        AddressError: the host is none of this machine, or the port is not a port, is taken or not ours to take.
    """
    low, high = PORTS
    if port is not None and not low <= port <= high:
        raise AddressError(f"--port is {port}; use {low} to {high}, or leave it out for the first free one from 7860")
    name = (host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1").removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(name, port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise AddressError(f"host {name!r} is not known here; use {_CURE}") from None
    failed = None
    for family, kind, _, _, place in found:  # "localhost" may have an address of a network that this machine lacks
        try:
            with socket.socket(family, kind) as tried:
                if os.name != "nt":  # where it would let two programs have one port
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(place)
                tried.listen(1)
            return
        except OSError as error:
            failed = error
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                break
    assert failed is not None
    raise AddressError(_why(failed, name, port))


def trusted_proxies(text: str, *, share: bool = False) -> tuple[str, ...]:
    """The addresses and networks of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.

    Args:
        text: such as "127.0.0.1,10.0.0.0/8"; "" for none but the Hub's on a Space, which nothing else can reach.
        share: whether there is a public link.
    Raises:
        AddressError: one of them is none.
    """
    named = [part.strip() for part in text.split(",") if part.strip()]
    for one in named:
        try:
            ipaddress.ip_network(one)
        except ValueError:
            raise AddressError(
                f"--trust-proxy is {one[:80]!r}; write the proxy's address or network, such as 127.0.0.1 or 10.0.0.0/8"
            ) from None
    own = SPACE_PROXIES if space_id() else ()
    return (*named, *own, *(SHARE_PROXIES if share else ()))


def _why(error: OSError, name: str, port: int | None) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken; end the program that uses it, or name another with --port"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} is not for this user; use one from 1024 on"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host {name!r} is not an address of this machine; use {_CURE}"
    return f"nothing can listen on {name!r}, port {port}: {error.strerror or error}; name others with --host and --port"
