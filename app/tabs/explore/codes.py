"""QR codes of the page's links: POST of `{"text": link}` gives `{"size", "path"}`, a square of so many modules and the
dark ones as the data of an SVG path."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import segno
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.words import page as says
from hsd_core.export.run_page import empty_page
from hsd_core.typed import Malformed, plain

CODE = f"{ROUTE}/qr"
LONGEST = 800  # characters: more make modules too small to be read from the back of a hall
_SCHEMES = ("http://", "https://")


def code_route() -> Route:
    """The route; one code is drawn at a time."""
    turn = CapacityLimiter(1)

    async def drawn(request: Request) -> Response:
        try:
            given: Any = plain(await request.body())
        except Malformed:
            given = None
        text = given.get("text") if isinstance(given, dict) else None
        if not isinstance(text, str) or not text.isascii() or not text.startswith(_SCHEMES):
            return _said(400, {"error": says.NO_LINK})
        if len(text) > LONGEST:
            return _said(413, {"error": says.link_too_long(LONGEST)})
        return _said(200, await to_thread.run_sync(code, text, limiter=turn))

    return Route(CODE, drawn, methods=["POST"])


@lru_cache(maxsize=64)
def code(text: str) -> dict[str, Any]:
    """A code of medium error correction, or better where it grows no larger."""
    rows = segno.make_qr(text, error="m").matrix
    runs = []
    for y, row in enumerate(rows):
        x = 0
        while x < len(row):
            end = next((i for i in range(x, len(row)) if row[i] != row[x]), len(row))
            if row[x]:
                runs.append(f"M{x} {y}h{end - x}v1h-{end - x}z")
            x = end
    return {"size": len(rows), "path": "".join(runs)}


def _said(status: int, value: dict[str, Any]) -> Response:
    return Response(dumps(value), status_code=status, media_type="application/json")


# ---- The page of a run that needs no server, still without its run: the browser puts that in and saves it


OFFLINE = f"{ROUTE}/offline.html"


def offline_route() -> Route:
    """GET; as plain text, so that nobody opens it in this server's place."""
    return Route(OFFLINE, PackedBody(lambda: empty_page().encode(), "text/plain").__call__, methods=["GET"])
