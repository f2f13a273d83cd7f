"""The Race tab: one component that owns it, and the events and calls by which it races and opens files."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute

from app.kit.mounted import tab
from app.kit.payload import payload, status
from app.serve.service import queued
from app.serve.settings import DEFAULTS, LIMITS, LONGEST_S, MAX_PROMPT, whole_text
from app.tabs.explore.examples import EXAMPLES
from app.tabs.explore.recordings import MAX_FILE, RecordingError
from app.tabs.explore.view import Play, named
from app.tabs.race.bundled_races import RACES, race_routes
from app.tabs.race.live import RACE
from app.tabs.race.load_job import LOAD, LOADS, LoadRequest, load_asked_for
from app.tabs.race.race_request import REPEATS, TOKENS, RaceRequest, asked_for
from app.tabs.race.visitor_race import MODULE
from app.tabs.shipped import Shipped
from hsd_core.measure.race import LANES

TITLE = "Race"
_OF_PRESETS = ("name", "title", "usable", "reason", "needs_download", "download_mb", "default_stack", "stacks")


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open. Races use the line, the engine and the runs of `play`."""
    presets = [{key: preset[key] for key in _OF_PRESETS} for preset in play.catalogue()]
    limits = {**LIMITS, "prompt": MAX_PROMPT, "file": MAX_FILE, "lanes": LANES, "longest_s": LONGEST_S}
    limits |= {"max_new_tokens": (1, TOKENS), "repeats": (1, REPEATS), "loads": LOADS}

    async def asked(data: Any) -> RaceRequest:
        return asked_for(data, play.catalogue())

    async def load_asked(data: Any) -> LoadRequest:
        return load_asked_for(data, play.catalogue())

    def open_race(data: Any) -> dict[str, Any] | Response:
        """A race that the visitor chose from their disk, packed already."""
        try:
            _, shown = play.reader.read(data, MODULE)
        except RecordingError as error:
            return payload("", 0, [], True, status("error", whole_text(str(error))))
        return Response(shown, media_type="application/json", headers={"content-encoding": "gzip"})

    view = tab(
        "race",
        events=["race", "load"],
        setup={
            "races": RACES,
            "presets": presets,
            "examples": EXAMPLES,
            "recordings": play.recordings.menu(),
            "limits": limits,
            "defaults": DEFAULTS,
        },
        server_functions=[named(f) for f in (open_race, play.stop, play.tail)],
    )
    queued(view, "race", play.service, asked, RACE)
    queued(view, "load", play.service, load_asked, LOAD)


def routes(shipped: Shipped) -> list[BaseRoute]:
    return [*race_routes(shipped.races)]
