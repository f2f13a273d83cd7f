"""A pretended ZeroGPU for the decorator of `spaces`, which runs for real: it asks, forks workers and pickles as it does
on a Space. What is pretended is the service that lends cards, and the card itself.

    python tests/app/pretend_zerogpu.py PROGRAM

runs a program of the folder that one is in, in whose workers no card is touched; `Lender` is the service.
"""

from __future__ import annotations

import base64
import json
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "x-ip-token"  # the header by which the Hub says who a visitor is


def token_of(visitor: str) -> str:
    """What the Hub puts there: signed, which nobody looks at here."""
    said = base64.urlsafe_b64encode(json.dumps({"user": visitor}).encode()).decode().rstrip("=")
    return f"none.{said}.none"


class Lender:
    """Lends cards without end, a worker's again where one is free.

    Attributes:
        asked: of each loan, what was asked for: "token" (None without one), "durationSeconds", ...
        lent: cards that have not come back. known: cards that had a worker.
        started: whether the Space has said that it starts.
        used_up: tokens of visitors who have no quota left.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.lent: set[int] = set()
        self.known: set[int] = set()
        self.started = False
        self.used_up: set[str] = set()
        self._lock = threading.Lock()

    def variables(self, port: int) -> dict[str, str]:
        """By which a Space on ZeroGPU knows that it is one."""
        return {"SPACES_ZERO_GPU": "true", "SPACES_ZERO_DEVICE_API_URL": f"http://127.0.0.1:{port}"}

    def answer(self, path: str, given: dict[str, str]) -> tuple[int, Any]:
        """The status and body of what the service says."""
        with self._lock:
            if path == "/schedule":
                self.asked.append(given)
                if given.get("token") in self.used_up:
                    return 429, {"left": 2, "wait": 600}
                card = min(set(range(len(self.lent) + 1)) - self.lent)
                idle = card in self.known
                self.lent.add(card)
                self.known.add(card)
                return 200, {"idle": idle, "nvidiaIndex": card, "nvidiaUUID": f"none-{card}", "allowToken": str(card)}
            if path == "/release":
                card = int(given["allowToken"])
                self.lent.discard(card)
                if given["fail"] == "true":
                    self.known.discard(card)
            self.started |= path == "/startup-report"
            return 200, None


@contextmanager
def lending() -> Iterator[tuple[Lender, dict[str, str]]]:
    """The service, on a port of its own, and the variables by which a Space finds it."""
    lender = Lender()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            address = urlsplit(self.path)
            status, said = lender.answer(address.path, {k: v[0] for k, v in parse_qs(address.query).items()})
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield lender, lender.variables(server.server_port)
    finally:
        server.shutdown()
        server.server_close()


# By module: no card is touched, and the processor that stands in for it may take longer than a card would.
PRETENDED: dict[str, dict[str, Any]] = {
    "spaces.zero.torch.patching": dict.fromkeys(("init", "move"), lambda *_, **__: None),
    "app.serve.engines.zerogpu": {"BACK_S": -600.0},
}


class NoCard(MetaPathFinder):
    """Puts what is pretended into modules, and refuses what ZeroGPU refuses: torch before `spaces`."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name == "spaces" and "torch" in sys.modules:
            raise ImportError("torch was imported before spaces, which then cannot pretend that there is a card")
        if name not in PRETENDED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None and spec.loader is not None
        whole = spec.loader.exec_module

        def without_card(module: Any) -> None:
            whole(module)
            vars(module).update(PRETENDED[name])

        spec.loader.exec_module = without_card  # type: ignore[method-assign]
        return spec


if __name__ == "__main__":
    sys.meta_path.insert(0, NoCard())
    sys.argv, sys.path[0] = sys.argv[1:], ""
    runpy.run_path(sys.argv[0], run_name="__main__")
