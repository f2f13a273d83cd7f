"""The Planner's answers to all that its controls ask in a page without a server, worked out ahead.

The first question's sliders stop at some agreements. The what-if controls stop at `STOPS`, one of them at a time: all
of them together would be millions of questions. Numbers in tables are read only there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from app.kit.payload import dumps
from app.site.seen_as import LOOKS, merged, packed
from app.tabs.planner.answer import answer, planned
from app.tabs.planner.profiles import plan_request
from app.tabs.planner.profiles.plan_request import MAX_NODES, parse, read
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.worker import QUESTIONS
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.search.another_level import AGREEMENTS, AnotherLevel
from hsd_core.typed import plain
from hsd_core.typed.program_files import ASSETS

EVERY = 4  # of the stops of the agreement's slider, one in so many
STOPS: dict[str, tuple[float, ...]] = {
    "max_block": (1, 2, 4, 8, 16, 32),
    "rejections": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
    "cost": (0.25, 0.5, 1.0, 2.0, 4.0),  # of one level, as a factor
}


class Ahead(NamedTuple):
    """What is known of one profile. curves: of the first question; plans: a `seen_as.packed` object of answers by the
    name of their question; brought: answers to `QUESTIONS` by the profile's own numbers, by name, each perhaps only why
    nobody knows (`error`)."""

    curves: list[dict[str, Any]]
    plans: dict[str, Any]
    brought: dict[str, Any]


def profiles(folder: Path = ASSETS / "profiles") -> dict[str, dict[str, Any]]:
    """The shipped and the simulated profiles by source and temperature, as the page names them."""
    listed = Sources(folder, list).listing()["sources"]
    return {f"{one['id']} {p.get('temperature', 0):g}": p for one in listed for p in one["profiles"]}


def stops(profile: Mapping[str, Any]) -> dict[str, list[float]]:
    """Where the what-if sliders of a profile stop; its own longest block among the others."""
    longest = MAX_NODES // len(profile["levels"])
    blocks = sorted({stop for stop in STOPS["max_block"] if stop <= longest} | {profile["max_block"]})
    return {**{name: list(all_) for name, all_ in STOPS.items()}, "max_block": blocks}


def questions(profile: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every question of the what-if controls: its name, as `assets/js/tabs/planner/ahead/plans-ahead.js` gives it, and
    what it adds to the profile."""
    names = [level["name"] for level in profile["levels"]]
    own = stops(profile)
    yield "", {}
    for block in own["max_block"]:
        if block != profile["max_block"]:
            yield f"block={block:g}", {"max_block": block}
    for factor in own["rejections"]:
        if factor != 1:
            yield f"rejections={factor:g}", {"rejections": factor}
    for name in names:
        for factor in own["cost"]:
            if factor != 1:
                yield f"cost={factor:g}={name}", {"cost": {"level": name, "factor": factor}}
    for name in names[:-1]:
        yield f"without={name}", {"levels": [other != name for other in names]}


def ahead(profile: dict[str, Any], folder: Path = ASSETS / "profiles") -> Ahead:
    """All answers in one profile. folder: of the validations."""
    sources = Sources(folder, list)
    plans: dict[str, Any] = {}
    for name, more in questions(profile):
        asked = parse({"profile": profile, **more})
        found, measured = planned(asked), sources.validation(asked)
        looks = [plan_request.Look(*look) for look in LOOKS]
        plans[name] = merged([plain(dumps(answer(found, look, measured))) for look in looks])
    return Ahead(_curves(profile), packed(plans), _brought(profile))


def _brought(profile: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for question in QUESTIONS:
        try:
            found[question.NAME] = question.answer(read(profile))
        except ProfileError as error:
            found[question.NAME] = {"error": str(error)}
    return found


def _curves(profile: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The curves at some agreements, as `AnotherLevel.answer` gives them, the profile's own first. The slider stops at
    these alone."""
    another = AnotherLevel(read(profile))
    others = [stop for stop in AGREEMENTS[::EVERY] if stop != another.agreement]
    every = sorted({another.agreement, *others})
    return [{**another.answer(stop), "agreements": every} for stop in (None, *others)]
