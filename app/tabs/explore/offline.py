"""The page of a run that needs no server, still without its run: the browser puts that in and saves it."""

from __future__ import annotations

from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.static import ROUTE
from hsd_core.export.run_page import empty_page

OFFLINE = f"{ROUTE}/offline.html"


def offline_route() -> Route:
    """GET; as plain text, so that nobody opens it in this server's place."""
    return Route(OFFLINE, PackedBody(lambda: empty_page().encode(), "text/plain").__call__, methods=["GET"])
