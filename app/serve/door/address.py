"""Where the server is to listen, and which proxies it believes: looked at before anything is built or loaded, so that a
mistake costs no minute."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

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
    own = SPACE_PROXIES if os.environ.get("SPACE_ID") else ()
    return (*named, *own, *(SHARE_PROXIES if share else ()))


def _why(error: OSError, name: str, port: int | None) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken; end the program that uses it, or name another with --port"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} is not for this user; use one from 1024 on"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host {name!r} is not an address of this machine; use {_CURE}"
    return f"nothing can listen on {name!r}, port {port}: {error.strerror or error}; name others with --host and --port"
