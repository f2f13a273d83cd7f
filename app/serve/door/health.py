"""`GET /health`: how page and engine are, for who watches over them on this machine."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.payload import dumps
from app.serve.door.guard import LOCAL

HEALTH = "/health"
FORWARDED = ("forwarded", "x-forwarded-for")


def health_route() -> Route:
    """Answered to callers of this machine alone: what a proxy passes on comes from elsewhere."""

    async def health(request: Request) -> Response:
        host = request.client.host if request.client else ""
        if host not in LOCAL or any(name in request.headers for name in FORWARDED):
            return Response(status_code=404)
        return Response(dumps(request.scope["app"].blocks.health()), media_type="application/json")

    return Route(HEALTH, health, methods=["GET"])
