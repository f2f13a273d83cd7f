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

from app.mounted import Mounted
from app.payload import dumps, payload, status
from app.planner.routes import PLOTLY
from app.play import Play, named
from app.results.bundled import Bundled
from app.results.quick import LONGEST_S, PROMPTS, TOKENS, QuickRequest, chosen, measure
from app.settings import RequestError, run_id, whole_text
from app.static import ROUTE
from hsd_core.stacks.grammar import grammar

LISTING = f"{ROUTE}/results"


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
        view = Mounted(
            "results",
            events=["quick"],
            setup=setup,
            server_functions=[named(f) for f in (self._play.stop, self._play.tail)],
        )
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
