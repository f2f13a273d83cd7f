"""HTTP to a server that the user names: bounded, without redirects, and errors that say what to do."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from typing import IO, Any
from urllib import error, parse, request

MOST = 16_000_000  # bytes of an answer
TIMEOUT = 300.0  # s, of a prompt on a slow machine
_PATIENCE = 5.0  # s, of everything else


class ProbeError(ValueError):
    """A server that cannot be probed; the message names what is missing and the cure."""


class _NoRedirect(request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Asked:
    """A server by its address, such as http://127.0.0.1:8000/v1."""

    def __init__(self, url: str) -> None:
        """
        Raises:
            ProbeError: it is no address of a server.
        """
        parts = parse.urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.username:
            raise ProbeError(f"--url is {url!r}; give the server's address, such as http://127.0.0.1:8000/v1")
        self.port = port or (443 if parts.scheme == "https" else 80)
        self.root = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
        self.here = _loopback(parts.hostname)
        proxies = [request.ProxyHandler({})] if self.here else []
        self._opener = request.build_opener(_NoRedirect, *proxies)

    def text(self, path: str) -> str:
        """The answer to a GET.

        Raises:
            ProbeError: there is none, or it is an error.
        """
        with self._open(path, None, _PATIENCE) as answer:
            return _whole(answer, f"{self.root}{path}").decode(errors="replace")

    def found(self, path: str) -> str | None:
        """The same, or None where the server has no such page.

        Raises:
            ProbeError: nothing answers.
        """
        try:
            return self.text(path)
        except Refused:
            return None

    def posted(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON answer to a POST of JSON.

        Raises:
            ProbeError: there is none, or it is an error.
        """
        with self._open(path, body, TIMEOUT) as answer:
            return _object(_whole(answer, f"{self.root}{path}"), f"{self.root}{path}")

    def streamed(self, path: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The events of a stream, each as it arrives.

        Raises:
            ProbeError: as `posted`.
        """
        read = 0
        with self._open(path, body, TIMEOUT) as answer:
            for line in answer:
                read += len(line)
                if read > MOST:
                    raise ProbeError(
                        f"{self.root}{path} answers with more than {MOST / 1e6:g} MB; ask for fewer tokens"
                    )
                event = line.strip().removeprefix(b"data:").strip()
                if event and event != b"[DONE]":
                    yield _object(event, f"{self.root}{path}")

    def _open(self, path: str, body: dict[str, Any] | None, seconds: float) -> Any:
        asked = request.Request(f"{self.root}{path}", headers={"Content-Type": "application/json"})
        if body is not None:
            asked.data = json.dumps(body).encode()
        try:
            return self._opener.open(asked, timeout=seconds)
        except error.HTTPError as answer:
            with answer:
                said = " ".join(answer.read(2000).decode(errors="replace").split())
            raise Refused(f"{self.root}{path} answers {answer.code}: {said[:300] or answer.reason}") from None
        except (error.URLError, OSError) as why:
            reason = getattr(why, "reason", why)
            raise Silent(f"{self.root}: nothing answers ({reason}); start the server, or check the address") from None


class Refused(ProbeError):
    """The server answers with an error."""


class Silent(ProbeError):
    """Nothing answers."""


def _whole(answer: IO[bytes], url: str) -> bytes:
    try:
        data = answer.read(MOST + 1)
    except OSError as why:
        raise Silent(f"{url}: the answer broke off ({why}); look at the server's log") from None
    if len(data) > MOST:
        raise ProbeError(f"{url} answers with more than {MOST / 1e6:g} MB; it is no server that can be probed")
    return data


def _object(data: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        raise ProbeError(f"{url} answers with what is no JSON; check the address") from None
    if not isinstance(value, dict):
        raise ProbeError(f"{url} answers with JSON of another form; check the address")
    return value


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
