"""The Learn tab: one component that owns it, and the route of the lessons and classes."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Route

from app.kit.mounted import tab
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.tabs.explore.view import Play
from app.tabs.learn.classes import Classes
from app.tabs.learn.lessons import Lessons
from app.tabs.shipped import Shipped

TITLE = "Learn"
LISTING = f"{ROUTE}/lessons"


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open."""
    tab("learn", waiting="lessons")


def routes(shipped: Shipped) -> list[BaseRoute]:
    return [lessons_route(shipped.lessons)]


def lessons_route(folder: Path) -> Route:
    """GET of the lessons and of the classes over them, read and checked now: the log names those passed over."""
    found = Lessons(folder).found
    classes = Classes(folder / "classes", {one["id"]: len(one["steps"]) for one in found}).found
    packed = PackedBody(lambda: dumps({"lessons": found, "classes": classes}).encode(), "application/json")
    return Route(LISTING, packed.__call__, methods=["GET"])
