"""The Results tab: one component that owns it, the route of the bundled benchmarks, and the event that measures."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.payload import dumps, payload, status
from app.planner.routes import PLOTLY
from app.play import Play, named
from app.results.bundled import Bundled
from app.results.quick import LONGEST_S, PROMPTS, TOKENS, QuickRequest, chosen, measure
from app.settings import RequestError, run_id, whole_text
from app.static import ROUTE, files
from hsd_core.stacks.grammar import grammar

LISTING = f"{ROUTE}/results"
_MOUNT = """
const root = (window.gradio_config && window.gradio_config.root) || window.location.origin;
import(root + "%(route)s/js/results/results.js")
  .then((module) => module.mount(element, {props, trigger, watch, call: server, root}))
  .catch((error) => { element.textContent = "The script of the results could not be loaded: " + error; });
// events: "quick"
"""


class ResultsView(gr.HTML):
    """The tab's DOM. `value` is a payload of a measurement; `setup` says where to ask, in plain JSON types."""

    def __init__(self, setup: dict[str, Any] | None = None, **options: Any) -> None:
        options.pop("html_template", None)
        options.pop("js_on_load", None)
        super().__init__(
            value=None,
            html_template='<div class="hx-root"><p class="hx-booting">Opening the results…</p></div>',
            js_on_load=_MOUNT % {"route": files().route},
            apply_default_css=False,
            elem_id="results",
            setup=dumps(setup or {}),
            **options,
        )

    def postprocess(self, value: dict[str, Any] | None) -> str:  # type: ignore[override]
        return "" if value is None else dumps(value)

    def preprocess(self, payload: str | None) -> str | None:
        return payload

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}


class Results:
    """What the tab's handlers share.

    Args:
        play: whose line, engine and runs the measurements use.
        folder: of the bundled benchmarks.
    """

    def __init__(self, play: Play, folder: Path) -> None:
        self._play, self._bundled = play, Bundled(folder)

    def build(self) -> None:
        """Add the tab's component to the Blocks that is open."""
        presets = [
            {key: preset[key] for key in ("name", "title", "usable", "reason", "needs_download", "download_mb")}
            for preset in self._play.catalogue()
        ]
        setup = {"listing": LISTING, "plotly": PLOTLY, "grammar": grammar(), "presets": presets}
        setup["quick"] = {"prompts": PROMPTS, "tokens": TOKENS, "longest_s": LONGEST_S}
        view = ResultsView(setup, server_functions=[named(f) for f in (self._play.stop, self._play.tail)])
        view.quick(
            self.quick,
            outputs=[view],
            concurrency_limit=None,  # the line before the engine is our own
            show_progress="hidden",
            api_visibility="private",
        )

    async def quick(self, event: gr.EventData, request: gr.Request) -> AsyncGenerator[dict[str, Any], None]:
        """Measure the quick set, when its turn has come."""
        data = event._data if isinstance(event._data, dict) else {}
        try:
            name, preset = run_id(data.get("run")), str(data.get("preset", ""))[:80]
            reports = [one["results"] for one in await to_thread.run_sync(self._bundled.reports)]
            asked = QuickRequest(name, preset, chosen(preset, self._play.catalogue(), reports))
        except RequestError as error:
            yield payload(whole_text(str(data.get("run", ""))[:64]), 0, [], True, status("error", str(error)))
            return
        service = self._play.service
        written = service.attend(name, service.visitor(request), partial(measure, service.loader, asked))
        async with aclosing(written) as payloads:
            async for item in payloads:
                yield item


def results_route(folder: Path) -> Route:
    """GET of the bundled benchmarks, and of what was not measured."""
    bundled = Bundled(folder)

    async def listed(_: Request) -> Response:
        text = await to_thread.run_sync(lambda: dumps(bundled.listing()))
        return Response(text, media_type="application/json")

    return Route(LISTING, listed, methods=["GET"])
