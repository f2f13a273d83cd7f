"""This machine's addresses in its networks, found without sending anything: a route is asked for, not taken."""

from __future__ import annotations

import ipaddress
import socket

# One address of each kind of network that a class may be in; the first is of none, and asks for the usual way out.
_TOWARDS = ("192.0.2.1", "192.168.255.254", "10.255.255.254", "172.31.255.254", "169.254.255.254")
ANY = ("0.0.0.0", "::", "")


def lan_addresses() -> list[str]:
    """IPv4 addresses by which other machines may reach this one, the likeliest first; none without a network."""
    found: dict[str, None] = {}
    for towards in _TOWARDS:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            try:
                asked.connect((towards, 9))
                found[asked.getsockname()[0]] = None
            except OSError:  # no way there
                continue
    try:
        named = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET, socket.SOCK_DGRAM)
    except OSError:
        named = []
    found.update(dict.fromkeys(str(place[0]) for *_, place in named))
    return [one for one in found if not ipaddress.ip_address(one).is_loopback]


def page_addresses(host: str, port: int) -> list[str]:
    """The addresses of a page that listens there, the one for learners first.

    Args:
        host: that the server listens on; `ANY` for all of this machine.
    """
    hosts = lan_addresses() if host in ANY else [host]
    return [f"http://{f'[{one}]' if ':' in one else one}:{port}/" for one in hosts or ["127.0.0.1"]]
