"""The bundled recordings, as the page asks for them: each is read and checked once, then sent packed."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.packed import Packed
from app.payload import dumps, payload, status
from app.recordings import RecordingError, Recordings
from app.static import ROUTE

RECORDING = f"{ROUTE}/recordings/{{name}}"


def recording_route(recordings: Recordings) -> Route:
    """GET of a recording's name: its final payload; where there is none, a payload that says why."""
    making = asyncio.Lock()

    def made(name: str) -> bytes:
        return dumps(recordings.payload(name)).encode()

    def packed(name: str) -> Packed:
        return Packed(lambda: made(name), "application/json", making)

    ready = {entry["name"]: packed(entry["name"]) for entry in recordings.menu()}

    async def served(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            return await (ready[name] if name in ready else packed(name))(request)
        except RecordingError as error:
            refused = payload("", 0, [], True, status("error", str(error)))
            return Response(dumps(refused), status_code=404, media_type="application/json")

    return Route(RECORDING, served, methods=["GET"])
