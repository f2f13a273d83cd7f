"""The Planner tab: one component that owns the tab. What it shows comes from the routes in `app.planner.routes`."""

from __future__ import annotations

from app.kit.mounted import Mounted
from app.planner.profiles.plan_request import LIMITS
from app.planner.routes import ANOTHER, ANSWER, PLOTLY, SOURCES
from hsd_core.stacks.grammar import grammar


def build() -> None:
    """Add the tab's component to the Blocks that is open. `setup` says where to ask, and the limits of questions."""
    setup = {
        "sources": SOURCES,
        "answer": ANSWER,
        "another": ANOTHER,
        "plotly": PLOTLY,
        "limits": LIMITS,
        "grammar": grammar(),
    }
    Mounted("planner", setup=setup)
