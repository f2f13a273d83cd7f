"""The Results tab: one component that owns it, the route of the bundled benchmarks, and the event that measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.routing import Route

from app.kit.mounted import Mounted
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.serve.queued import queued
from app.serve.settings import run_id
from app.tabs.explore.view import Play, named
from app.tabs.planner.routes import PLOTLY
from app.tabs.results.bundled_results import Bundled
from app.tabs.results.quick import LONGEST_S, PROMPTS, QUICK, TOKENS, QuickRequest, chosen
from app.tabs.results.studies import addresses
from hsd_core.grammar.stack_text import grammar

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


class Results:
    """What the tab's handlers share.

    Args:
        play: whose line, engine and runs the measurements use.
        folder: of the bundled benchmarks.
    """

    def __init__(self, play: Play, folder: Path) -> None:
        self._play, self._bundled = play, Bundled(folder)
        self._studies = addresses(folder)

    def build(self) -> None:
        """Add the tab's component to the Blocks that is open."""
        presets = [{key: preset[key] for key in _TOLD if key in preset} for preset in self._play.catalogue()]
        setup = {
            "listing": LISTING,
            "studies": self._studies,
            "plotly": PLOTLY,
            "grammar": grammar(),
            "presets": presets,
        }
        setup["quick"] = {"prompts": PROMPTS, "tokens": TOKENS, "longest_s": LONGEST_S}
        view = Mounted(
            "results",
            events=["quick"],
            setup=setup,
            server_functions=[named(f) for f in (self._play.stop, self._play.tail)],
        )
        queued(view, "quick", self._play.service, self._asked, QUICK)

    async def _asked(self, data: Any) -> QuickRequest:
        data = data if isinstance(data, dict) else {}
        name, preset = run_id(data.get("run")), str(data.get("preset", ""))[:80]
        reports = [one["results"] for one in self._bundled.reports]
        return QuickRequest(name, preset, chosen(preset, self._play.catalogue(), reports))


def results_route(folder: Path) -> Route:
    """GET of the bundled benchmarks, read now, and of what was not measured."""
    bundled = Bundled(folder)
    packed = PackedBody(lambda: dumps(bundled.listing()).encode(), "application/json")
    return Route(LISTING, packed.__call__, methods=["GET"])
