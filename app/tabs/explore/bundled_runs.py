"""The bundled recordings, as the page asks for them: each is read and checked once, then sent packed.

Reading one takes a good part of a second, so whoever asks for the first has the others made ready too, one by one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.payload import dumps, payload, status
from app.kit.static import ROUTE
from app.tabs.explore.recordings import RecordingError, Recordings

RECORDING = f"{ROUTE}/recordings/{{name}}"


def recording_route(recordings: Recordings) -> Route:
    """GET of a recording's name: its final payload; where there is none, a payload that says why."""
    making = asyncio.Lock()

    def made(name: str) -> bytes:
        return dumps(recordings.payload(name)).encode()

    def packed(name: str) -> PackedBody:
        return PackedBody(lambda: made(name), "application/json", making)

    ready = {entry["name"]: packed(entry["name"]) for entry in recordings.menu()}
    others: list[asyncio.Task[None]] = []

    async def prepare() -> None:
        for one in ready.values():
            with suppress(RecordingError):  # whoever asks for it is told
                await one.prepare()

    async def served(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            reply = await (ready[name] if name in ready else packed(name))(request)
        except RecordingError as error:
            refused = payload("", 0, [], True, status("error", str(error)))
            return Response(dumps(refused), status_code=404, media_type="application/json")
        if not others:
            others.append(asyncio.create_task(prepare()))
        return reply

    return Route(RECORDING, served, methods=["GET"])
