"""The Learn tab: one component that owns it, and the route of the lessons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from starlette.routing import Route

from app.learn.lessons import Lessons
from app.packed import Packed
from app.payload import dumps
from app.static import ROUTE, files
from hsd_core.stacks.grammar import grammar

LISTING = f"{ROUTE}/lessons"
_MOUNT = """
const root = (window.gradio_config && window.gradio_config.root) || window.location.origin;
import(root + "%(route)s/js/learn/learn.js")
  .then((module) => module.mount(element, {props}))
  .catch((error) => { element.textContent = "The script of the lessons could not be loaded: " + error; });
"""


class LearnView(gr.HTML):
    """The tab's DOM. `setup`: the kinds of level; plain JSON types."""

    def __init__(self, setup: dict[str, Any] | None = None, **options: Any) -> None:
        options.pop("html_template", None)
        options.pop("js_on_load", None)
        super().__init__(
            value=None,
            html_template='<div class="hx-root"><p class="hx-booting">Opening the lessons…</p></div>',
            js_on_load=_MOUNT % {"route": files().route},
            apply_default_css=False,
            elem_id="learn",
            setup=dumps(setup or {}),
            **options,
        )

    def postprocess(self, value: None) -> str:  # type: ignore[override]
        return ""

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}


def build() -> None:
    """Add the tab's component to the Blocks that is open."""
    LearnView({"grammar": grammar()})


def lessons_route(folder: Path) -> Route:
    """GET of the lessons, which are read and checked now: the log names the ones that are passed over."""
    found = Lessons(folder).found
    packed = Packed(lambda: dumps({"lessons": found}).encode(), "application/json")
    return Route(LISTING, packed.__call__, methods=["GET"])
