"""The Learn tab: one component that owns it, and the route of the lessons and classes."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import Route

from app.kit.mounted import Mounted
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.tabs.learn.classes import Classes
from app.tabs.learn.lessons import Lessons
from hsd_core.grammar.stack_text import grammar

LISTING = f"{ROUTE}/lessons"


def build() -> None:
    """Add the tab's component to the Blocks that is open."""
    Mounted("learn", what="lessons", setup={"grammar": grammar()})


def lessons_route(folder: Path) -> Route:
    """GET of the lessons and of the classes over them, read and checked now: the log names those passed over."""
    found = Lessons(folder).found
    classes = Classes(folder / "classes", {one["id"]: len(one["steps"]) for one in found}).found
    packed = PackedBody(lambda: dumps({"lessons": found, "classes": classes}).encode(), "application/json")
    return Route(LISTING, packed.__call__, methods=["GET"])
