"""The answers to the Planner's question, made ahead for a page without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.kit.static import ASSETS
from app.planner.profiles.plan_request import read
from app.planner.profiles.sources import Sources
from hsd_core.theory.search.another_level import AGREEMENTS, AnotherLevel

EVERY = 4  # of the stops of the agreement's slider, one in so many


def grids(profiles: Path = ASSETS / "profiles") -> dict[str, list[dict[str, Any]]]:
    """By source and temperature of each shipped profile: the curves at some agreements, as `AnotherLevel.answer` gives
    them, the profile's own first. The slider stops at these alone."""
    found = {}
    for source in Sources(profiles, list).listing()["sources"]:
        for profile in source["profiles"]:
            another = AnotherLevel(read(profile))
            others = [stop for stop in AGREEMENTS[::EVERY] if stop != another.agreement]
            curves = [another.answer(stop) for stop in (None, *others)]
            stops = sorted({another.agreement, *others})
            key = f"{source['id']} {profile.get('temperature', 0):g}"
            found[key] = [{**curve, "agreements": stops} for curve in curves]
    return found
