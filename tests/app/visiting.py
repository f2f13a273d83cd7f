"""A visitor without a browser: speaks what Gradio's page speaks, over one connection per answer."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

TOY = {"preset": "toy", "stack": "table:3@id=order1,table:5@id=order3,table@id=order6", "prompt": "The tower of levels"}


class Visit:
    """One session at a server. `page`: hold the connection open that an open page holds.

    Args:
        source: the address to come from, e.g. "127.0.0.2"; by default the system's choice.
    """

    def __init__(self, url: str, *, page: bool = False, source: str | None = None, timeout: float = 600.0) -> None:
        where = urlsplit(url)
        self._host, self._timeout = where.netloc, timeout
        self._source = (source, 0) if source else None
        self.session = uuid.uuid4().hex[:12]
        self._page = self._get(f"/gradio_api/heartbeat/{self.session}") if page else None

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON that a POST is answered with.

        Raises:
            ConnectionError: the status is not 200; the message is the answer.
        """
        line = self._connect()
        try:
            line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = line.getresponse()
            text = answer.read().decode()
        finally:
            line.close()
        if answer.status != 200:
            raise ConnectionError(f"{answer.status}: {text[:300]}")
        return json.loads(text)

    def ask(self, event: str, data: Any) -> str:
        """Trigger one of the stage's events, without listening for what comes; its id."""
        stage, fn = self._stage(event)
        body = {
            "data": [],
            "fn_index": fn,
            "trigger_id": stage,
            "event_data": {"asked": data},
            "session_hash": self.session,
        }
        return str(self.post("/gradio_api/queue/join", body)["event_id"])

    def call(self, name: str, data: Any) -> Any:
        """One of the stage's server functions."""
        stage, _ = self._stage("generate")
        body = {"data": data, "component_id": stage, "fn_name": name, "session_hash": self.session}
        return self.post("/gradio_api/component_server", body)

    def messages(self) -> Iterator[dict[str, Any]]:
        """Gradio's messages to this session, until the server ends them or the iterator is closed."""
        answer = self._get(f"/gradio_api/queue/data?session_hash={self.session}")
        try:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            answer.close()

    def generate(self, **changes: Any) -> Iterator[dict[str, Any]]:
        """The payloads of one run of the toy preset, or of what the changes ask for; close it to leave."""
        event = self.ask("generate", {"run": str(uuid.uuid4()), **TOY, **changes})
        for message in self.messages():
            if message.get("event_id") != event:
                continue
            if message["msg"] == "process_generating":
                value = message["output"]["data"][0]
                # From the second on Gradio sends edits; ours are always a whole new string.
                yield json.loads(value[0][2] if isinstance(value, list) else value)
            elif message["msg"] == "process_completed":
                if not message["success"]:
                    raise ConnectionError(str(message["output"])[:300])
                return

    def run_stack(self, **changes: Any) -> dict[str, Any]:
        """What the public endpoint answers to one call.

        Raises:
            ConnectionError: it refused; the message is the refusal.
        """
        answer = self.hear_call(self.post_call(**changes)).read().decode()
        kind, data = answer.rsplit("event: ", 1)[1].split("\ndata: ", 1)
        if kind != "complete":
            raise ConnectionError(data[:300])
        found: dict[str, Any] = json.loads(data)[0]
        return found

    def post_call(self, **changes: Any) -> str:
        """Post one call to the public endpoint, without listening; its id."""
        asked = {**TOY, "tokens": 40, **changes}
        data = [asked["prompt"], asked["stack"], asked["preset"], 0, 0, 1.0, 0, asked["tokens"], False, True]
        return str(self.post("/gradio_api/call/run_stack", {"data": data})["event_id"])

    def hear_call(self, event: str) -> http.client.HTTPResponse:
        """The open answer to a call that was posted; close it to leave."""
        return self._get(f"/gradio_api/call/run_stack/{event}")

    def close(self, run: str) -> None:
        """Say that the page of a run is closed, as a page does."""
        line = self._connect()
        line.request("POST", "/hx/left", json.dumps({"run": run}), {"Content-Type": "application/json"})
        assert line.getresponse().status == 204
        line.close()

    def leave(self) -> None:
        """Let go of the connection that an open page holds."""
        if self._page is not None:
            self._page.close()
            self._page = None

    def _stage(self, event: str) -> tuple[int, int]:
        config = json.loads(self._get("/config").read())
        for dependency in config["dependencies"]:
            for component, name in dependency["targets"]:
                if name == event and component is not None:
                    return component, dependency["id"]
        raise ConnectionError(f"the page has no event {event!r}")

    def _get(self, path: str) -> http.client.HTTPResponse:
        line = self._connect()
        line.request("GET", path, headers={"Connection": "close"})  # then the answer alone holds the socket
        return line.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, timeout=self._timeout, source_address=self._source)
