"""A pretended server of another engine: it answers with what it was given, in order, and nothing else.

As a program it is a server that a probe starts: `python pretend_engine.py PORT SESSION LENGTH`, where SESSION is a file
of real answers by draft length.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    server: PretendServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer()

    def _answer(self) -> None:
        waiting = self.server.answers[self.path]
        status, body = (200, "ok") if self.path == "/health" else waiting.popleft() if waiting else (404, "not here")
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class PretendServer(ThreadingHTTPServer):
    """answers: by path, each once. asked: the bodies of all POSTs. url: its address."""

    daemon_threads = True

    def __init__(self, answers: Iterable[tuple[str, int, str]], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.answers: dict[str, deque[tuple[int, str]]] = defaultdict(deque)
        for path, status, body in answers:
            self.answers[path].append((status, body))
        self.asked: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def pretended(answers: Iterable[tuple[str, int, str]]) -> Iterator[PretendServer]:
    server = PretendServer(answers)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def recorded(file: str, length: str) -> list[tuple[str, int, str]]:
    """The answers of a session at a draft length."""
    with open(file, encoding="utf-8") as session:
        return [(path, 200, body) for _, path, body in json.load(session)[length]]


if __name__ == "__main__":
    PretendServer(recorded(sys.argv[2], sys.argv[3]), int(sys.argv[1])).serve_forever()
