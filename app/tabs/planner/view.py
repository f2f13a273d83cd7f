"""The Planner tab: one component that owns the tab, and the event that measures this machine.

What else it shows comes from the routes in `app.tabs.planner.routes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.kit.mounted import Mounted
from app.serve.queued import queued
from app.serve.service import Service
from app.serve.settings import run_id
from app.tabs.planner.measuring import MEASURE, MeasureRequest, asked_for
from app.tabs.planner.profiles.plan_request import LIMITS
from app.tabs.planner.routes import ANOTHER, ANSWER, BROUGHT, DOCTOR, LENGTHS, PLOTLY, SOURCES
from hsd_core.grammar.stack_text import grammar

_TOLD = ("name", "title", "usable", "reason", "default")  # of each preset


def build(
    service: Service, catalogue: Callable[[], list[dict[str, Any]]], functions: Sequence[Callable[[Any], Any]]
) -> None:
    """Add the tab's component to the Blocks that is open. `setup` says where to ask, and the limits of questions.

    Args:
        service: measures this machine. catalogue: what may be measured. functions: by which a page stops such a run,
            and asks for what it has missed.
    """
    setup = {
        "sources": SOURCES,
        "answer": ANSWER,
        "another": ANOTHER,
        "brought": BROUGHT,
        "lengths": LENGTHS,
        "doctor": DOCTOR,
        "plotly": PLOTLY,
        "limits": LIMITS,
        "grammar": grammar(),
        "presets": [{key: preset[key] for key in _TOLD if key in preset} for preset in catalogue()],
    }
    view = Mounted("planner", events=["measure"], setup=setup, server_functions=functions)

    async def asked(data: Any) -> MeasureRequest:
        data = data if isinstance(data, dict) else {}
        return asked_for(run_id(data.get("run")), str(data.get("preset", ""))[:80], catalogue())

    queued(view, "measure", service, asked, MEASURE)
