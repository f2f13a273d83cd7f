"""The Planner tab: one component that owns the tab, and the event that measures this machine.

What else it shows comes from the routes in `app.tabs.planner.routes`.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from starlette.routing import BaseRoute

from app.kit.mounted import tab
from app.serve.engine import EngineWork, Job
from app.serve.service import queued
from app.serve.settings import run_id
from app.tabs.explore.view import Play, named
from app.tabs.planner.measuring import MEASURE, MeasureRequest, asked_for
from app.tabs.planner.profiles.plan_request import LIMITS
from app.tabs.planner.profiles.sources import measured_here
from app.tabs.planner.routes import ANOTHER, ANSWER, BROUGHT, DOCTOR, LENGTHS, PLOTLY, SOURCES
from app.tabs.planner.routes import routes as profile_routes
from app.tabs.shipped import Shipped
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory.profiles.profile_store import SHIPPED
from hsd_core.theory.search.default_stack import default_for_machine

TITLE = "Planner"
_TOLD = ("name", "title", "usable", "reason", "default")  # of each preset


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open. `setup` says where to ask, and the limits of questions; the
    line and the engine of `play` measure this machine."""
    setup = {
        "sources": SOURCES,
        "answer": ANSWER,
        "another": ANOTHER,
        "brought": BROUGHT,
        "lengths": LENGTHS,
        "doctor": DOCTOR,
        "plotly": PLOTLY,
        "limits": LIMITS,
        "presets": [{key: preset[key] for key in _TOLD if key in preset} for preset in play.catalogue()],
    }
    view = tab("planner", events=["measure"], setup=setup, server_functions=[named(play.stop), named(play.tail)])

    async def asked(data: Any) -> MeasureRequest:
        data = data if isinstance(data, dict) else {}
        return asked_for(run_id(data.get("run")), str(data.get("preset", ""))[:80], play.catalogue())

    queued(view, "measure", play.service, asked, MEASURE)

    def unmeasured(request: EngineWork) -> tuple[Job[MeasureRequest], MeasureRequest] | None:
        """This machine, while the default stack of a preset that runs is planned from another machine's profile."""
        preset, offer = PRESETS.get(request.preset), shipped.offer
        if preset is None or not play.service.engine.here:
            return None
        if default_for_machine(preset, offer.device, offer.dtype).source != SHIPPED:
            return None
        return MEASURE, MeasureRequest(f"measure-{uuid4().hex}", preset.name, preset.stack("cpu"))

    play.service.when_idle = unmeasured


def routes(shipped: Shipped) -> list[BaseRoute]:
    offer = shipped.offer
    measured = shipped.measured or partial(measured_here, offer)
    return profile_routes(shipped.profiles, measured, offer.source, offer.dtype)
