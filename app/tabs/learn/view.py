"""The Learn tab: one component that owns it, and the route of the lessons and classes."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Route

from app.kit.languages import ENGLISH, languages
from app.kit.mounted import tab
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.tabs.explore.view import Play
from app.tabs.learn.classes import Classes
from app.tabs.learn.lessons import NOWHERE, Lessons
from app.tabs.learn.many_requests import many_requests
from app.tabs.shipped import Shipped
from hsd_core.typed.program_files import ASSETS

TITLE = "Learn"
LISTING = f"{ROUTE}/lessons"
REQUESTS = f"{ROUTE}/lessons-requests"


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open."""
    tab("learn", waiting="lessons")


def routes(shipped: Shipped) -> list[BaseRoute]:
    english = lessons_route(shipped.lessons)
    requests = PackedBody(lambda: dumps(many_requests()).encode(), "application/json")
    more = Route(REQUESTS, requests.__call__, methods=["GET"])
    return [english, more, *(lessons_route(shipped.lessons, name) for name in languages(ASSETS) if name != ENGLISH)]


def lessons_route(folder: Path, language: str = ENGLISH) -> Route:
    """GET of the lessons and of the classes over them, read and checked now: the log names those passed over."""
    texts = NOWHERE if language == ENGLISH else ASSETS / "text" / language
    found = Lessons(folder, texts).found
    classes = Classes(folder / "classes", {one["id"]: len(one["steps"]) for one in found}, texts).found
    packed = PackedBody(lambda: dumps({"lessons": found, "classes": classes}).encode(), "application/json")
    return Route(LISTING if language == ENGLISH else f"{LISTING}/{language}", packed.__call__, methods=["GET"])
