"""The Planner tab: one component that owns the tab. What it shows comes from the routes in `app.planner.routes`."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.payload import dumps
from app.planner.request import LIMITS
from app.planner.routes import ANSWER, PLOTLY, SOURCES
from app.static import files
from hsd_core.stacks.grammar import grammar

_MOUNT = """
const root = (window.gradio_config && window.gradio_config.root) || window.location.origin;
import(root + "%(route)s/js/planner/planner.js")
  .then((module) => module.mount(element, {props, root}))
  .catch((error) => { element.textContent = "The planner's script could not be loaded: " + error; });
"""


class PlannerView(gr.HTML):
    """The tab's DOM. `setup`: where to ask, and the limits of what may be asked; plain JSON types."""

    def __init__(self, setup: dict[str, Any] | None = None, **options: Any) -> None:
        options.pop("html_template", None)
        options.pop("js_on_load", None)
        super().__init__(
            value=None,
            html_template='<div class="hx-root"><p class="hx-booting">Opening the planner…</p></div>',
            js_on_load=_MOUNT % {"route": files().route},
            apply_default_css=False,
            elem_id="planner",
            setup=dumps(setup or {}),
            **options,
        )

    def postprocess(self, value: None) -> str:  # type: ignore[override]
        return ""

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}


def build() -> None:
    """Add the tab's component to the Blocks that is open."""
    PlannerView({"sources": SOURCES, "answer": ANSWER, "plotly": PLOTLY, "limits": LIMITS, "grammar": grammar()})
