"""Calls of tools before Gradio's MCP server has them: arguments are checked, and a call ends when its client leaves.

Gradio's server (`gradio/mcp.py`) waits for a tool in a thread that nothing ends (`run_sync(job.result)`), whoever has
left, and serves each message apart from all others (`stateless=True`), so that no cancellation finds the call it means.
So each call gets a name here, under which the run that it starts is heard for as long as its connection lasts.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from app.serve.door.asked import Asked
from app.serve.door.guard import TOOLS, Message, Receive, RequestRefused, Send
from app.serve.door.presence import CALLER, Presence
from app.words import programs as says

SESSION = "mcp-session-id"  # which a client repeats in each message once it was given one
INVALID_REQUEST = -32600  # of JSON-RPC
Call = tuple[str, str]  # a client's session, and the id of its request as JSON


class ToolCalls:
    """ASGI middleware around Gradio's application, which has the page's `blocks`; behind `CheckedPosts`."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._open: dict[Call, asyncio.Event] = {}  # calls at work, and what cancels them

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != TOOLS:
            await self._app(scope, receive, send)
        elif scope["method"] == "POST":
            await self._message(scope, receive, send)
        elif b"text/event-stream" in dict(scope["headers"]).get(b"accept", b""):
            # Nothing is ever said there, and it would hold a connection of each client.
            await _answer(send, 405, {"error": says.NO_STREAM}, (b"allow", b"POST"))
        else:
            await self._app(scope, receive, send)

    async def _message(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        said = json.loads(body)  # an object: it was checked
        if not is_id(said.get("id", 0)):
            error = {"code": INVALID_REQUEST, "message": says.WRONG_ID}
            await _answer(send, 400, {"jsonrpc": "2.0", "id": None, "error": error})
            return
        params = said.get("params")
        params = params if isinstance(params, dict) else {}
        session = dict(scope["headers"]).get(SESSION.encode(), b"").decode("latin-1")
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return whole.pop() if whole else await receive()

        if said.get("method") == "tools/call" and "id" in said:
            blocks = scope["app"].blocks
            if wrong := wrong_arguments(blocks, params):
                await _answer(send, 200, {"jsonrpc": "2.0", "id": said["id"], "result": _refused(wrong)})
            else:
                await self._called(blocks.presence, (session, json.dumps(said["id"])), scope, replayed, send)
            return
        if said.get("method") == "notifications/cancelled":
            if call := self._open.get((session, json.dumps(params.get("requestId")))):
                call.set()
        elif said.get("method") == "initialize":
            send = _with_session(send)
        await self._app(scope, replayed, send)

    async def _called(
        self, presence: Presence, call: Call, scope: dict[str, Any], receive: Receive, send: Send
    ) -> None:
        """One call of a tool. Gradio passes its headers on to the endpoint."""
        name, cancelled = uuid.uuid4().hex, asyncio.Event()
        headers = [one for one in scope["headers"] if one[0] != CALLER.encode()]

        async def until_cancelled() -> Message:
            """What is received; a client that cancels the call is gone, as far as the call goes."""
            heard, ended = asyncio.ensure_future(receive()), asyncio.ensure_future(cancelled.wait())
            try:
                await asyncio.wait((heard, ended), return_when=asyncio.FIRST_COMPLETED)
                return {"type": "http.disconnect"} if cancelled.is_set() else heard.result()
            finally:
                heard.cancel()
                ended.cancel()

        if call[0]:
            self._open[call] = cancelled
        presence.came("ear", name)
        try:
            await self._app({**scope, "headers": [*headers, (CALLER.encode(), name.encode())]}, until_cancelled, send)
        finally:
            presence.went("ear", name)
            if self._open.get(call) is cancelled:
                del self._open[call]


def is_id(given: Any) -> bool:
    """Whether a request may be called this: a text that can be sent back, or a whole number of 64 bits."""
    if isinstance(given, str):
        return given.isascii() or given == given.encode(errors="replace").decode()
    return isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**63


def wrong_arguments(blocks: Any, params: Mapping[str, Any]) -> str:
    """What is wrong with a call of a tool, in a sentence; "" where nothing is, or the message is no call at all.

    Args:
        blocks: of the page, as Gradio serves it. params: of the message.
    """
    name, arguments = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return ""
    tools: dict[str, str] = blocks.mcp_server_obj.tool_to_endpoint
    if name not in tools:
        return says.no_tool(name[:40], ", ".join(sorted(tools)))
    try:
        Asked(blocks).arguments(tools[name].lstrip("/"), arguments)
    except RequestRefused as refusal:
        return str(refusal)
    return ""


def _refused(text: str) -> dict[str, Any]:
    """The result of a tool that failed: a language model reads it, and mends its call."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _with_session(send: Send) -> Send:
    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            given = (SESSION.encode(), uuid.uuid4().hex.encode())
            message = {**message, "headers": [*message.get("headers", ()), given]}
        await send(message)

    return named


async def _answer(send: Send, status: int, said: Any, *more: tuple[bytes, bytes]) -> None:
    body = json.dumps(said).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
