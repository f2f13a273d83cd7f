"""`GET /health` and `GET /metrics`: how page and engine are, for who watches over them."""

from __future__ import annotations

from secrets import compare_digest

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.kit.payload import dumps
from app.serve.door.guard import LOCAL

HEALTH, METRICS = "/health", "/metrics"
SHORTEST_KEY = 16  # characters: it is guessed over a network
_PROXIED = ("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "cf-connecting-ip")


def watch_routes(key: str = "") -> list[BaseRoute]:
    """Answered to callers of this machine (what a proxy passes on comes from elsewhere), and to who has the key.

    Args:
        key: that others send as `Authorization: Bearer KEY`; "" for none.
    """

    async def health(request: Request) -> Response:
        if not _may(request, key):
            return Response(status_code=404)
        return Response(dumps(request.scope["app"].blocks.health()), media_type="application/json")

    async def metrics(request: Request) -> Response:
        if not _may(request, key):
            return Response(status_code=404)
        return Response(request.scope["app"].blocks.metrics(), media_type=CONTENT_TYPE_LATEST)

    return [Route(HEALTH, health, methods=["GET"]), Route(METRICS, metrics, methods=["GET"])]


def _may(request: Request, key: str) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if key and kind.lower() == "bearer" and compare_digest(given.strip().encode(), key.encode()):
        return True
    host = request.client.host if request.client else ""
    proxied = any(name in _PROXIED or name.startswith("x-forwarded-") for name in request.headers)
    return host in LOCAL and not proxied
