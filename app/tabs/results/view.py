"""The Results tab: one component that owns it, the route of the bundled benchmarks, and the event that measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute, Route

from app.kit.mounted import tab
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.serve.service import queued
from app.serve.settings import run_id
from app.tabs.explore.view import Play, named
from app.tabs.planner.routes import PLOTLY
from app.tabs.results.bundled_results import Bundled, addresses, studies_routes
from app.tabs.results.quick import LONGEST_S, PROMPTS, QUICK, TOKENS, QuickRequest, chosen
from app.tabs.shipped import Shipped

TITLE = "Results"
LISTING = f"{ROUTE}/results"
_TOLD = (
    "name",
    "title",
    "usable",
    "reason",
    "needs_download",
    "download_mb",
    "default_stack",
    "preset_stack",
)  # of each preset


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open. Measurements use the line, engine and runs of `play`."""
    reports = [one["results"] for one in Bundled(shipped.results).reports]

    async def asked(data: Any) -> QuickRequest:
        data = data if isinstance(data, dict) else {}
        name, preset = run_id(data.get("run")), str(data.get("preset", ""))[:80]
        return QuickRequest(name, preset, chosen(preset, play.catalogue(), reports))

    view = tab(
        "results",
        events=["quick"],
        setup={
            "listing": LISTING,
            "studies": addresses(shipped.results),
            "plotly": PLOTLY,
            "presets": [{key: preset[key] for key in _TOLD if key in preset} for preset in play.catalogue()],
            "quick": {"prompts": PROMPTS, "tokens": TOKENS, "longest_s": LONGEST_S},
        },
        server_functions=[named(f) for f in (play.stop, play.tail)],
    )
    queued(view, "quick", play.service, asked, QUICK)


def routes(shipped: Shipped) -> list[BaseRoute]:
    return [results_route(shipped.results), *studies_routes(shipped.results)]


def results_route(folder: Path) -> Route:
    """GET of the bundled benchmarks, read now, and of what was not measured."""
    bundled = Bundled(folder)
    packed = PackedBody(lambda: dumps(bundled.listing()).encode(), "application/json")
    return Route(LISTING, packed.__call__, methods=["GET"])
