"""A pretended Hugging Face Hub on loopback: real HTTP with the Hub's headers, redirects, ranges and errors.

Small files are answered by a relative redirect, large ones (LFS) by one to another host, as the Hub does. `Hub.sent`
counts the bytes of each file's body that left it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34
PIECE = 1 << 14


@dataclass
class Repo:
    """A model. `gated`: its files are for those with `token`. `claims`: sizes told for files instead of their own."""

    files: dict[str, bytes]
    gated: bool = False
    token: str = "hf_good"
    claims: dict[str, int] = field(default_factory=dict)

    def large(self, name: str) -> bool:
        return name.endswith(".safetensors")

    def etag(self, name: str) -> str:
        data = self.files[name]
        if self.large(name):
            return hashlib.sha256(data).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    def size(self, name: str) -> int:
        return self.claims.get(name, len(self.files[name]))


@dataclass
class Hub:
    """
    ranges: those that were asked for. stall_after: bytes of a file's body after which nothing comes until `goes_on` is
    set. damaged: files that arrive as zeros. silent: no request is answered.
    """

    repos: dict[str, Repo] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    ranges: list[str] = field(default_factory=list)
    stall_after: dict[str, int] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    silent: bool = False
    goes_on: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    elsewhere: str = ""  # the host of large files


@contextmanager
def hub(repos: dict[str, Repo]) -> Iterator[Hub]:
    pretended = Hub(repos)
    handler = type("Handler", (_Handler,), {"hub": pretended})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    pretended.url = f"http://127.0.0.1:{servers[0].server_port}"
    pretended.elsewhere = f"http://localhost:{servers[1].server_port}"
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield pretended
    finally:
        pretended.over.set()
        for server in servers:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if self.hub.silent:
            self.hub.over.wait(60)
            return
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        if parts[0] == "large":
            self._large("/".join(parts[1:3]), parts[3])
        elif parts[:2] == ["api", "models"]:
            self._about("/".join(parts[2:4]), parts[4:])
        elif parts[:2] == ["api", "resolve-cache"]:
            repo = self.hub.repos["/".join(parts[3:5])]
            self._file(repo, parts[6])
        else:
            self._resolve("/".join(parts[:2]), "/".join(parts[4:]))

    def _about(self, id_: str, rest: list[str]) -> None:
        repo = self.hub.repos.get(id_)
        if repo is None:  # the Hub does not tell whether a private one is there
            self._answer(401, {"X-Error-Message": "Invalid username or password."}, b'{"error":"Invalid username"}')
            return
        if rest[:1] == ["tree"]:
            entries = [
                {"type": "file", "path": name, "oid": repo.etag(name), "size": repo.size(name)} for name in repo.files
            ]
            self._json([e | _lfs(repo, e["path"], "oid") for e in entries])
            return
        siblings = [
            {"rfilename": name, "size": repo.size(name), "blobId": repo.etag(name)} | _lfs(repo, name, "sha256")
            for name in repo.files
        ]
        self._json({"id": id_, "sha": COMMIT, "gated": "manual" if repo.gated else False, "siblings": siblings})

    def _resolve(self, id_: str, name: str) -> None:
        repo = self.hub.repos[id_]
        if name not in repo.files:
            self._answer(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b"Entry not found")
            return
        said = self.headers.get("Authorization", "")
        if repo.gated and said != f"Bearer {repo.token}":
            known = said.startswith("Bearer hf_")
            why = "Access to this model is restricted." if known else "You must be authenticated to access it."
            self._answer(403 if known else 401, {"X-Error-Code": "GatedRepo", "X-Error-Message": why}, why.encode())
            return
        told = {"X-Repo-Commit": COMMIT, "X-Linked-Size": str(repo.size(name)), "X-Linked-ETag": f'"{repo.etag(name)}"'}
        if repo.large(name):
            self._answer(302, {**told, "Location": f"{self.hub.elsewhere}/large/{id_}/{name}?signed=1"})
        else:
            self._answer(307, {**told, "Location": f"/api/resolve-cache/models/{id_}/{COMMIT}/{name}"})

    def _large(self, id_: str, name: str) -> None:
        if self.headers.get("Authorization"):  # a token of the Hub must not reach another host
            self._answer(400, {})
            return
        self._file(self.hub.repos[id_], name)

    def _file(self, repo: Repo, name: str) -> None:
        data, start = repo.files[name], 0
        told = {"ETag": f'"{repo.etag(name)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if name in self.hub.damaged:
            data = bytes(len(data))
        if asked := self.headers.get("Range"):
            self.hub.ranges.append(f"{name} {asked}")
            start = int(asked.removeprefix("bytes=").split("-")[0])
            told["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.send_response(206 if asked else 200)
        for key, value in {**told, "Content-Length": str(len(data) - start)}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        for at in range(start, len(data), PIECE):
            if at >= self.hub.stall_after.get(name, len(data)) and not self.hub.goes_on.wait(60):
                self.close_connection = True
                return
            piece = data[at : at + PIECE]
            try:
                self.wfile.write(piece)
            except OSError:
                self.close_connection = True
                return
            self.hub.sent[name] += len(piece)

    def _json(self, value: Any) -> None:
        self._answer(200, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def _answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _lfs(repo: Repo, name: str, key: str) -> dict[str, Any]:
    if not repo.large(name):
        return {}
    return {"lfs": {key: repo.etag(name), "size": repo.size(name), "pointerSize": 135}}
