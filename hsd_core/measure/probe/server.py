"""A server that the user names, or that is started here; the HTTP client bounds replies and follows no redirects."""

from __future__ import annotations

import ipaddress
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import IO, Any, NoReturn
from urllib import error, parse, request

MOST = 16_000_000  # bytes of an answer
TIMEOUT = 300.0  # s, for a prompt on a slow machine
_PATIENCE = 5.0  # s, for everything else


class ProbeError(ValueError):
    """A server cannot be probed; the message names what is missing and the cure."""


class _NoRedirect(request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class HttpServer:
    """A server by its address, such as http://127.0.0.1:8000/v1."""

    def __init__(self, url: str) -> None:
        """
        Raises:
            ProbeError: it is not an address of a server.
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
        """The body of a GET.

        Raises:
            ProbeError: there is no answer, or an error.
        """
        with self._open(path, None, _PATIENCE) as answer:
            return _whole(answer, f"{self.root}{path}").decode(errors="replace")

    def found(self, path: str) -> str | None:
        """The same, or None if the server has no such page.

        Raises:
            ProbeError: nothing answers.
        """
        try:
            return self.text(path)
        except Refused:
            return None

    def posted(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON body of the answer to a POST of JSON.

        Raises:
            ProbeError: there is no answer, or an error.
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


STARTS = 600.0  # s, for loading a large model
_PAUSE = 0.2  # s
_GRACE = 10.0  # s, before it is killed
_SHOWN = 3  # lines of its log in an error


@contextmanager
def started(command: str, asked: HttpServer, seconds: float = STARTS) -> Iterator[None]:
    """Start a server that answers at the address, and end it after the block.

    Raises:
        ProbeError: the address is in use, or the program cannot be started, ends, or does not answer in time.
    """
    if not asked.here:
        raise ProbeError(f"{asked.root} is not this machine; a server is started at 127.0.0.1 alone")
    if _answers(asked):
        raise ProbeError(f"{asked.root} answers already; end that server, or name another port")
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        except (OSError, ValueError) as why:
            raise ProbeError(f"{command!r} cannot be started: {why}; name a program with its whole path") from None
        before = signal.signal(signal.SIGTERM, _ended) if current_thread() is main_thread() else None
        try:
            deadline = time.monotonic() + seconds
            while not _ready(asked):
                if process.poll() is not None:
                    raise ProbeError(f"{command!r} ended with code {process.returncode}: {_tail(log)}")
                if time.monotonic() > deadline:
                    raise ProbeError(f"{command!r} does not answer at {asked.root} after {seconds:g} s: {_tail(log)}")
                time.sleep(_PAUSE)
            yield
            if process.poll() is not None:
                raise ProbeError(f"{command!r} ended during the probe: {_tail(log)}")
        finally:
            _end(process)
            if before is not None:
                signal.signal(signal.SIGTERM, before)


def _ended(*_: object) -> NoReturn:
    """On SIGTERM the probe's server is ended too."""
    raise SystemExit(128 + signal.SIGTERM)


def _answers(asked: HttpServer) -> bool:
    with suppress(Silent):
        asked.found("/health")
        return True
    return False


def _ready(asked: HttpServer) -> bool:
    """Whether its model is loaded: all three engines then answer 200 to /health."""
    with suppress(Silent, Refused):
        asked.text("/health")
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            break


def _tail(log: IO[bytes]) -> str:
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - 4000))
    said = [line.strip()[:200] for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(said[-_SHOWN:]) or "it said nothing"
