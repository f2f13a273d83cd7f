"""Between the guard and Gradio: questions are checked, figures wait their turn, and no error leaves as a traceback."""

from __future__ import annotations

import json
import logging
from contextlib import AsyncExitStack
from typing import Any

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.kit.faults import in_words
from app.kit.figures.panels import undrawn
from app.serve.door.asked import DIRECT, ENDED, Asked, NoSession
from app.serve.door.guard import API, Message, Receive, RequestRefused, Send
from app.serve.door.kinds import WrongKind
from app.serve.line.turns import Full, Turns, visitor
from app.words import page as says

LARGE = 2**17  # bytes of a body that is read in a thread, while others are answered
DRAWN = 1  # figures that are drawn at a time: each takes Python's lock for a tenth of a second and more
OWN, MOST = 40, 80  # that may wait, of one address and of all: a class that opens them together
PATIENCE_S = 15.0
log = logging.getLogger(__name__)


class CheckedPosts:
    """ASGI middleware around Gradio's application, which has the page's `blocks`."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._figures = Turns(at_once=DRAWN, own=OWN, most=MOST)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            async with AsyncExitStack() as turn:
                ready = await self._ready(scope, receive, turn)
                if ready is not None:
                    await self._app(scope, ready, answer.send)
        except WrongKind as wrong:
            # As Gradio's client reads it, which of other refusals shows the status alone.
            detail = {"__type__": "validate", "is_valid": False, "parameter_name": wrong.name, "message": str(wrong)}
            await answer.said(wrong.status, str(wrong), detail=[detail])
        except RequestRefused as refusal:
            await answer.said(refusal.status, str(refusal))
        except NoSession:
            await answer.whole(200, b"text/event-stream; charset=utf-8", ENDED)
        except _Undrawn as undrawn:
            await answer.whole(200, b"application/json", str(undrawn).encode())
        except Exception as error:
            await answer.failed(error, scope["path"])

    async def _ready(self, scope: dict[str, Any], receive: Receive, turn: AsyncExitStack) -> Receive | None:
        """What the application receives, once it may; None where nobody waits for the answer any more.

        Raises:
            Refused: the question is none. NoSession: see `Asked.heard`. _Undrawn: too many wait for figures.
        """
        path, method = scope["path"].rstrip("/"), scope["method"]
        asked = Asked(getattr(scope.get("app"), "blocks", None))
        if asked.blocks is None or not path.startswith(f"{API}/"):
            return receive
        if method != "POST":
            asked.heard(path, scope["query_string"])
            return receive
        body = await Request(scope, receive).body()
        if len(body) > LARGE:
            checked = await to_thread.run_sync(asked.body, path, body)
        else:
            checked = asked.body(path, body)
        if DIRECT.fullmatch(path):
            try:
                await turn.enter_async_context(self._figures.turn(visitor(Request(scope)), PATIENCE_S))
            except Full as full:
                raise _Undrawn(_instead(checked or body, full)) from None
            if await Request(scope, receive).is_disconnected():
                return None
        return _replayed(scope, body if checked is None else checked, receive)


class _Undrawn(Exception):
    """What is answered in the place of figures."""


def _instead(body: bytes, full: Full) -> str:
    """As Gradio answers: the page shows a note with the name of the run that it asked for."""
    sent = json.loads(body).get("event_data")
    asked = sent.get("asked") if isinstance(sent, dict) else None  # as the script of a component sends it
    run = asked.get("run") if isinstance(asked, dict) else None
    said = {"own": says.own_figures(OWN), "all": says.all_figures(MOST), "late": says.waited(PATIENCE_S)}
    shown = undrawn(run if isinstance(run, str) else "", said[full.why])
    return json.dumps({"data": shown, "is_generating": False, "duration": 0.0, "average_duration": None})


def _replayed(scope: dict[str, Any], body: bytes, receive: Receive) -> Receive:
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    headers = [
        (name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")
    ]
    scope["headers"] = [*headers, (b"content-length", str(len(body)).encode())]

    async def replayed() -> Message:
        return whole.pop() if whole else await receive()

    return replayed


class _Answer:
    """One answer: what of it has been sent, and how it ends when the application fails."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = self._sized = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started, self._sized = True, b"content-length" in dict(message.get("headers", ()))
        await self._send(message)

    async def failed(self, error: Exception, path: str) -> None:
        """End the answer in words; the log has the error whole."""
        ended = self._started and any(isinstance(one, HTTPException) for one in (error, error.__cause__))
        if not ended:  # Gradio ends a stream whose session is over with an exception
            log.error("the answer to %s failed", path, exc_info=error)
        if not self._started:
            await self.said(500, in_words(error))
        elif self._sized:
            raise error
        else:
            await self._send({"type": "http.response.body", "body": b""})

    async def said(self, status: int, text: str, **more: Any) -> None:
        await self.whole(status, b"application/json", json.dumps({"error": text, **more}).encode())

    async def whole(self, status: int, kind: bytes, body: bytes) -> None:
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
